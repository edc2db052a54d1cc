import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GzipStream, gzipPart } from '../../../../apiservice/negotiation/gzip.ts'

const piece = fc.record({
  isPart: fc.boolean(),
  bytes: fc
    .tuple(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(1, 2, 300, 5_000))
    .map(([bytes, times]) => Buffer.concat(Array.from({ length: times }, () => bytes))),
})

describe('a gzip stream of parts', () => {
  it('is what they are one after the other, whether compressed before or not, in any order and more than once', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), pieces => {
        const stream = new GzipStream()
        const taken: Buffer[] = []
        for (const { isPart, bytes } of [...pieces, ...pieces.toReversed()]) {
          if (isPart) stream.part(gzipPart(bytes))
          else stream.bytes(bytes)
          if (stream.size > 100) taken.push(stream.take())
        }
        stream.end()
        taken.push(stream.take())
        const all = [...pieces, ...pieces.toReversed()].map(({ bytes }) => bytes)
        // Checks the checksum and the length, too.
        expect(gunzipSync(Buffer.concat(taken)).equals(Buffer.concat(all))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('has no block without bytes between its parts', () => {
    const stream = new GzipStream()
    for (const text of ['first', 'second']) {
      stream.part(gzipPart(Buffer.from(text.repeat(1_000))))
      stream.bytes(Buffer.from(','))
    }
    stream.end()
    expect(stream.take().includes(Buffer.from([0, 0, 0xff, 0xff]))).toBe(false)
  })
})
