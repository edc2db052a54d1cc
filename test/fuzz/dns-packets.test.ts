import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/kernel/clock.ts'
import { framed } from '../support/dns-message.ts'
import { exampleObjects } from '../support/dns-objects.ts'
import { runDns, servicesCluster } from '../support/dns-responder.ts'
import { tcpClient, udpClient } from '../support/dns-socket.ts'
import { eventually } from '../support/eventually.ts'
import { seed } from '../support/seed.ts'
import { check, mutated, seeds } from './dns-packets.ts'
import { generator } from './random.ts'

/** Packets that once broke something, in hexadecimal. */
const corpus = join(import.meta.dirname, 'corpus', 'dns')
const seconds = Number(process.env.FUZZ_SECONDS ?? 3)

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

const maxGrowthOctets = 4 * 1024 * 1024

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Without what may be collected. */
function heldOctets(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Throws for the first packet that does harm. How many there were. */
function fuzz(next: ReturnType<typeof generator>, durationMs: number): number {
  const until = systemClock.now() + durationMs
  let packets = 0
  for (; packets % 500 !== 0 || systemClock.now() < until; packets++) {
    const packet = mutated(next)
    try {
      check(packet)
    } catch (cause) {
      throw new Error(`kept as test/fuzz/corpus/dns/${keep(packet)}`, { cause })
    }
  }
  return packets
}

describe('damaged DNS packets', () => {
  it.each(kept())('do no harm: %s', (_, packet) => {
    check(packet)
  })

  it('do no harm: those that killed other servers', () => {
    for (const packet of seeds) check(packet)
  })

  it(`do no harm: ${seconds} s of new ones (FUZZ_SECONDS, SEED=${seed})`, {
    timeout: 1000 * seconds + 30_000,
  }, () => {
    const next = generator(seed)
    let packets = fuzz(next, 500 * seconds)
    // What is compiled and cached on the way is there by now.
    const before = heldOctets()
    packets += fuzz(next, 500 * seconds)
    expect(packets).toBeGreaterThan(0)
    expect(heldOctets() - before).toBeLessThan(maxGrowthOctets)
  })

  it('do no harm over sockets: whoever sends them, others are answered', { timeout: 120_000 }, async () => {
    const services = servicesCluster()
    await services.put(exampleObjects())
    const started = await runDns({ cluster: services.cluster })
    await eventually(() => expect(started.dns.ready()).toBe(true))
    const udp = await udpClient(started.port)
    const next = generator(seed)
    try {
      for (let round = 0; round < 40; round++) {
        const tcp = await tcpClient(started.port)
        for (let i = 0; i < 100; i++) udp.send(mutated(next))
        tcp.socket.write(Buffer.concat(Array.from({ length: 20 }, () => framed(mutated(next)))))
        expect(await started.ask('web.prod A')).toBe('NOERROR A 10.42.0.10')
        udp.replies.length = 0
        tcp.socket.destroy()
      }
      expect(started.log.lines.filter(({ level }) => level === 'error')).toEqual([])
    } finally {
      await udp.close()
      await started.dns.close()
    }
  })
})
