// Members of a release before or after that of the hub: what one does not know, the other does without.
import { describe, expect, it } from 'vitest'
import { type MemoryFleet, memoryFleet, serviceExports, services, slices } from '../support/memory-fleet.ts'
import { service, serviceExport, slice } from '../support/shop.ts'
import { changedWithin, type Parts, type Skew } from '../support/skew.ts'

const same = (object: unknown): unknown => object

const later = 'fieldOfALaterRelease'
const withLater = (object: unknown): unknown =>
  changedWithin(object, part => ({ ...part, [later]: { deep: ['value'] } }))
const withoutLater = (object: unknown): unknown => changedWithin(object, part => without(part, [later]))

/** Optional fields, as if the older side had been made before them. */
const recent = ['consumers', 'appProtocol', 'trafficDistribution', 'exportedLabels', 'exportedAnnotations']
const withoutRecent = (object: unknown): unknown => changedWithin(object, part => without(part, recent))

function without(part: Parts, keys: readonly string[]): Parts {
  return Object.fromEntries(Object.entries(part).filter(([key]) => !keys.includes(key)))
}

const skews: readonly (readonly [title: string, skew: Skew])[] = [
  ['reads fields of a later hub that it does not know', { read: withLater, write: withoutLater }],
  [
    'sends fields that an older hub does not keep',
    { read: withoutLater, write: object => withoutLater(withLater(object)) },
  ],
  ['does not know fields that the hub has', { read: withoutRecent, write: withoutRecent }],
  ['gets and keeps fields in both directions', { read: same, write: same }],
]

async function exported(fleet: MemoryFleet): Promise<void> {
  for (const [index, member] of fleet.members.entries()) {
    await member.apply(services, service('web', { trafficDistribution: 'PreferClose' }))
    await member.apply(slices, slice('web-abc', [`10.0.${index}.1`]))
    await member.apply(serviceExports, serviceExport('web'))
  }
  await fleet.settle()
}

describe('a member that', () => {
  it.each(skews)('%s works with others, and comes to rest', async (_title, skew) => {
    const fleet = await memoryFleet({ members: ['old', 'new'], skews: { old: skew } })
    await exported(fleet)
    for (const member of fleet.members) {
      const found = await member.importOf('web')
      expect(found?.status?.clusters?.map(({ cluster }) => cluster)).toEqual(['new', 'old'])
      expect(found?.spec?.ports).toMatchObject([{ name: 'http', port: 80, protocol: 'TCP' }])
      const endpoints = (await member.slicesOf('web')).flatMap(one => one.endpoints.flatMap(e => e.addresses))
      expect(new Set(endpoints)).toEqual(new Set(['10.0.0.1', '10.0.1.1']))
      expect(await member.conditionsOf('web')).toMatchObject({ Valid: 'True/Valid', Ready: 'True/Exported' })
      // What it does not know is nothing that it would pass on to its cluster.
      expect(JSON.stringify([found, await member.slicesOf('web')])).not.toContain(later)
    }
    await fleet.clock.advance(60_000)
    await fleet.settle()
    const written = fleet.hub.writes.length
    await fleet.clock.advance(600_000)
    await fleet.settle()
    expect(fleet.hub.writes.slice(written)).toEqual([])
  })
})
