import { describe, expect, it } from 'vitest'
import { warnerOf, warningPlugin } from '../../../../apiservice/admission/warnings.ts'
import type { AdmissionAttributes } from '../../../../apiservice/contract.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { anAdmission } from '../../../support/admission.ts'
import { WidgetKind } from '../../../support/kinds.ts'

const byName = warnerOf(WidgetKind, (object, old) => [
  `${old?.metadata.name ?? 'nothing'} to ${object.metadata.name}`,
])

async function warnedOf(
  attributes: Partial<AdmissionAttributes>,
  warners = [byName],
  log = memoryLogger(),
): Promise<readonly string[]> {
  const texts: string[] = []
  const plugin = warningPlugin(warners, log)
  const admission = anAdmission({ ...attributes, warn: text => texts.push(text) })
  if (plugin.handles(admission)) await plugin.validate?.(admission, never)
  return texts
}

describe('warnings of admission', () => {
  it('come of creations and updates of their resource', async () => {
    expect(await warnedOf({})).toEqual(['nothing to web'])
    expect(await warnedOf({ operation: 'UPDATE', oldObject: anAdmission().object })).toEqual(['web to web'])
    expect(await warnedOf({ dryRun: true })).toEqual(['nothing to web'])
  })

  it('come of nothing else', async () => {
    expect(await warnedOf({ operation: 'DELETE', object: undefined })).toEqual([])
    expect(await warnedOf({ subresource: 'status' })).toEqual([])
    expect(await warnedOf({ served: { kind: { ...WidgetKind, plural: 'gadgets' }, version: 'v2' } })).toEqual(
      [],
    )
  })

  it('fail alone', async () => {
    const failing = warnerOf(WidgetKind, () => {
      throw new Error('a fault')
    })
    const log = memoryLogger()
    expect(await warnedOf({}, [failing, byName], log)).toEqual(['nothing to web'])
    expect(log.lines).toMatchObject([
      { level: 'error', message: 'warner failed', fields: { error: 'a fault' } },
    ])
  })
})
