import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBackup, encodeBackup } from '../../../../apiservice/store/backup.ts'
import { decodeRecord } from '../../../../apiservice/store/record.ts'
import type { StoredObject } from '../../../../apiservice/store-contract.ts'
import { aBody, aKey } from '../../../conformance/store/harness.ts'
import { seed } from '../../../support/seed.ts'

function objects(count: number, filling = 'x'): readonly StoredObject[] {
  return Array.from({ length: count }, (_, index) => ({
    ...aKey(`shop/n${index}`),
    revision: index + 2,
    body: aBody(`${filling}${index}`),
  }))
}

function encoded(items: readonly StoredObject[], revision = items.length + 1): Buffer {
  return Buffer.concat([...encodeBackup({ revision, items }, 1_700_000_000_000)])
}

describe('a backup', () => {
  it.each([0, 1, 3000])('of %d objects is read as it was written', count => {
    const items = objects(count, 'y'.repeat(500))
    const backup = decodeBackup(encoded(items, 7000))
    expect([backup.revision, backup.at]).toEqual([7000, 1_700_000_000_000])
    const read = backup.entries.map(({ revision, value }) => {
      const { key, body } = decodeRecord(revision, value)
      return { ...key, revision, body }
    })
    expect(read).toEqual(items)
  })

  it('is handed out in pieces', () => {
    const pieces = [...encodeBackup({ revision: 3001, items: objects(3000, 'y'.repeat(500)) }, 0)]
    expect(pieces.length).toBeGreaterThan(3)
  })

  const whole = encoded(objects(20))

  it('is refused when its end is missing', () => {
    for (let length = 0; length < whole.length; length++) {
      expect(() => decodeBackup(whole.subarray(0, length))).toThrow(
        /^it is (damaged: |no backup of a store$)/,
      )
    }
    expect(() => decodeBackup(Buffer.concat([whole, Buffer.from('x')]))).toThrow('its end is missing')
  })

  it(`is refused when a bit of it is another (seed ${seed})`, () => {
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(7), (at, bit) => {
        const bytes = Buffer.from(whole)
        bytes.writeUInt8((bytes[at] ?? 0) ^ (1 << bit), at)
        expect(() => decodeBackup(bytes)).toThrow(/^it (is|was) /)
      }),
      { seed, numRuns: 1000 },
    )
  })

  it.each(['format', 'schema'])('of a newer release is refused (%s)', part => {
    const newer = whole.toString('latin1').replace(`"${part}":1`, `"${part}":2`)
    expect(() => decodeBackup(Buffer.from(newer, 'latin1'))).toThrow(/^it was written by a newer release \(/)
  })

  it.each(['', '\n', '{}\n', 'null\n', 'PK'])('is not %j', text => {
    expect(() => decodeBackup(Buffer.from(text))).toThrow('it is no backup of a store')
  })
})
