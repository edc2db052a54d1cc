import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/kernel/clock.ts'
import { check, mutated, seeds } from './dns-packets.ts'
import { generator } from './random.ts'

/** Packets that once broke something, in hexadecimal. */
const corpus = join(import.meta.dirname, 'corpus', 'dns')
const seconds = Number(process.env.FUZZ_SECONDS ?? 3)
const seed = Number(process.env.FUZZ_SEED ?? systemClock.now() % 2 ** 31)

function kept(): readonly (readonly [string, Buffer])[] {
  mkdirSync(corpus, { recursive: true })
  return readdirSync(corpus)
    .filter(name => name.endsWith('.hex'))
    .map(name => [name, Buffer.from(readFileSync(join(corpus, name), 'utf8').trim(), 'hex')] as const)
}

function keep(packet: Buffer): string {
  const name = `${createHash('sha256').update(packet).digest('hex').slice(0, 16)}.hex`
  writeFileSync(join(corpus, name), `${packet.toString('hex')}\n`)
  return name
}

describe('damaged DNS packets', () => {
  it.each(kept())('do no harm: %s', (_, packet) => {
    check(packet)
  })

  it('do no harm: those that killed other servers', () => {
    for (const packet of seeds) check(packet)
  })

  it(`do no harm: ${seconds} s of new ones (FUZZ_SECONDS, FUZZ_SEED=${seed})`, {
    timeout: 1000 * seconds + 30_000,
  }, () => {
    const next = generator(seed)
    const until = systemClock.now() + 1000 * seconds
    let packets = 0
    while (systemClock.now() < until) {
      for (let i = 0; i < 500; i++) {
        const packet = mutated(next)
        try {
          check(packet)
        } catch (cause) {
          throw new Error(`kept as test/fuzz/corpus/dns/${keep(packet)}`, { cause })
        }
        packets++
      }
    }
    expect(packets).toBeGreaterThan(0)
  })
})
