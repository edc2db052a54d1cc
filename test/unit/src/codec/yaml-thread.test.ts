import { describe, expect, it } from 'vitest'
import { parseLongYaml } from '../../../../src/codec/yaml-thread.ts'
import { isReason } from '../../../../src/kernel/errors.ts'

const honest = Array.from({ length: 2_000 }, (_, at) => `k${at}: [v, ${at}]`).join('\n')

async function refusal(text: string): Promise<string> {
  try {
    await parseLongYaml(text)
  } catch (thrown) {
    if (isReason(thrown, 'BadRequest')) return thrown.message
    throw thrown
  }
  return 'read'
}

describe('the thread that reads YAML', () => {
  it('reads what comes between texts that are too deep and too heavy', async () => {
    const all = await Promise.all([
      refusal('['.repeat(1024 * 1024)),
      parseLongYaml(honest),
      refusal('- a\n'.repeat(250_000)),
      refusal(`[${','.repeat(1_000_000)}]`),
      parseLongYaml(honest),
      refusal('"'.repeat(390_000)),
      parseLongYaml(honest),
    ])
    const value = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`k${at}`, ['v', at]]))
    const read = { value, duplicates: [] }
    expect(all).toEqual([
      'yaml: line 1: exceeded max depth',
      read,
      'yaml: the document has too many values',
      'yaml: the document has too many values',
      read,
      expect.stringMatching(/^yaml: line 1: Unexpected double-quoted-scalar/),
      read,
    ])
  }, 60_000)

  it('has so many wait, and no more', async () => {
    const texts = Array.from({ length: 20 }, () => parseLongYaml(honest))
    const settled = await Promise.allSettled(texts)
    const refused = settled.flatMap(one => (one.status === 'rejected' ? [one.reason.code] : []))
    expect(refused).toEqual([429, 429, 429, 429])
    await parseLongYaml(honest)
  }, 60_000)
})
