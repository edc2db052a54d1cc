import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Connection, type Peer } from '../../dns/server/connection.ts'
import { FrameBatch } from '../../dns/server/frames.ts'
import { tcpLimits } from '../../dns/server/limits.ts'
import { framed, question } from '../support/dns-message.ts'
import { exampleObjects } from '../support/dns-objects.ts'
import { askerOf, loadedZone } from '../support/dns-zone.ts'
import { manualClock } from '../support/manual-clock.ts'

const asker = askerOf(loadedZone(exampleObjects()), { random: () => 0 })

/** A client that takes everything at once. */
function peer() {
  const written: Buffer[] = []
  let open = true
  const close = (): void => {
    open = false
  }
  const fake = {
    remoteAddress: '127.0.0.1',
    writableLength: 0,
    write: (bytes: Buffer) => written.push(bytes) > 0,
    end: close,
    destroy: close,
    destroySoon: close,
    pause: () => undefined,
    resume: () => undefined,
  }
  const options = {
    limits: tcpLimits,
    clock: manualClock(),
    responder: asker.chain,
    observer: asker.observer,
    batch: new FrameBatch(),
  }
  // A connection calls nothing else, and uses no result but that of `write`.
  const connection = new Connection(fake as unknown as Peer, options)
  return { connection, written: () => Buffer.concat(written), open: () => open, writes: () => written.length }
}

const message = fc
  .tuple(
    fc.constantFrom('web.prod', 'nope.prod', 'db.prod', 'big.prod', 'prod'),
    fc.constantFrom('A', 'AAAA', 'SRV', 'TXT', 'ANY'),
    fc.nat({ max: 65_535 }),
  )
  .map(([name, type, id]) => question(`${name}.svc.clusterset.local`, type, { id }))

describe('a stream of queries', () => {
  it('is answered the same however it is cut into segments', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), fc.array(fc.nat({ max: 700 })), (messages, cuts) => {
        const stream = Buffer.concat(messages.map(framed))
        const expected = Buffer.concat(messages.map(one => framed(asker.raw(one, 'tcp') ?? Buffer.alloc(0))))
        const { connection, written, open } = peer()
        const at = [...cuts.filter(cut => cut < stream.length), stream.length].sort(
          (one, other) => one - other,
        )
        let from = 0
        for (const to of at) {
          connection.receive(stream.subarray(from, to))
          from = to
        }
        expect(written().equals(expected)).toBe(true)
        expect(open()).toBe(true)
        expect(connection.idle).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  it('that is noise ends in answers or in the end of the connection, never in a throw', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 8 }), chunks => {
        const { connection, open } = peer()
        for (const chunk of chunks) if (open()) connection.receive(Buffer.from(chunk))
      }),
      { numRuns: 1000 },
    )
    expect(asker.observer.faults).toEqual([])
  })

  it('leaves in one write when it came in one segment', () => {
    const { connection, writes } = peer()
    connection.receive(Buffer.concat(Array.from({ length: 100 }, () => framed(question('web.prod', 'A')))))
    expect(writes()).toBe(1)
  })
})
