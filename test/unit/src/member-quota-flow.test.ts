// A hub that has no room for all that a member exports.
import { afterEach, describe, expect, it } from 'vitest'
import { forbidden, quotaExceeded } from '../../../src/kernel/errors.ts'
import {
  type MemoryFleet,
  memoryFleet,
  serviceExports,
  services,
  slices,
} from '../../support/memory-fleet.ts'
import { service, serviceExport, slice } from '../../support/shop.ts'

let fleet: MemoryFleet

afterEach(() => fleet.end())

/** Of this kind the hub takes no more than `room.left`. */
async function fullHub(plural: string, left: number): Promise<{ left: number; refused: number }> {
  fleet = await memoryFleet({ members: ['c1', 'c2'] })
  const room = { left, refused: 0 }
  fleet.hub.admit = ({ verb, resource }) => {
    if (resource.plural !== plural) return
    if (verb === 'delete') room.left += 1
    if (verb !== 'create') return
    if (room.left > 0) {
      room.left -= 1
      return
    }
    room.refused += 1
    const cause = { reason: quotaExceeded, message: 'full', field: 'metadata.namespace' }
    throw forbidden({ group: 'hub.isthmus.dev', resource: plural }, 'x', 'exceeded quota: member-exports', [
      cause,
    ])
  }
  return room
}

async function exportMany(count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, at) => `web${at}`)
  const { local } = fleet.member('c1')
  const signal = AbortSignal.timeout(60_000)
  for (const name of names) {
    await local.create(services, service(name), signal)
    await local.create(serviceExports, serviceExport(name), signal)
  }
  return names
}

async function readyOf(names: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const name of names) {
    const ready = `${(await fleet.member('c1').conditionsOf(name)).Ready}`
    counts[ready] = (counts[ready] ?? 0) + 1
  }
  return counts
}

describe('exports that the hub has no room for', () => {
  it('say so, are not sent again and again, and come in one by one as others go', async () => {
    const room = await fullHub('exportedservices', 10)
    const names = await exportMany(40)
    await fleet.settle()
    expect(await readyOf(names)).toEqual({ 'True/Exported': 10, 'False/Failed': 30 })
    const failed = (await fleet.member('c1').local.find(serviceExports, 'web39', 'shop'))?.status?.conditions
    expect(failed?.find(({ type }) => type === 'Ready')?.message).toMatch(
      /^hub: exportedservices\.hub\.isthmus\.dev "x" is forbidden: exceeded quota: member-exports/,
    )
    const told = fleet.log.lines.filter(({ message }) => message === 'the hub has no room for more exports')
    expect(told).toHaveLength(1)
    // One is tried now and then.
    room.refused = 0
    await fleet.clock.advance(600_000)
    expect(room.refused).toBeLessThanOrEqual(21)
    expect(room.refused).toBeGreaterThan(5)
    for (const name of names.slice(0, 3))
      await fleet.member('c1').remove(serviceExports, { namespace: 'shop', name })
    await fleet.settle()
    expect(await readyOf(names.slice(3))).toEqual({ 'True/Exported': 10, 'False/Failed': 27 })
    expect(await fleet.member('c2').importOf('web39')).toBeUndefined()
    // The hub gives more room without a word.
    room.left = 100
    await fleet.clock.advance(31_000)
    await fleet.settle()
    expect(await readyOf(names.slice(3))).toEqual({ 'True/Exported': 37 })
    expect(await fleet.member('c2').importOf('web39')).toBeDefined()
  })

  it('say which of their endpoints are kept out, and nothing more when there is room', async () => {
    const room = await fullHub('exportedendpointslices', 0)
    await exportMany(1)
    const { local } = fleet.member('c1')
    await local.create(slices, slice('web0-a', ['10.1.0.1']), AbortSignal.timeout(5_000))
    await fleet.settle()
    const messageOf = async () =>
      (await local.find(serviceExports, 'web0', 'shop'))?.status?.conditions?.find(
        ({ type }) => type === 'Ready',
      )
    expect(await messageOf()).toMatchObject({
      status: 'False',
      reason: 'Failed',
      message: expect.stringMatching(/^hub: endpoints of EndpointSlice web0-a are missing: .*exceeded quota/),
    })
    expect(await fleet.member('c2').importOf('web0')).toBeDefined()
    // However often it is tried meanwhile, nothing comes and goes.
    local.writes.length = 0
    room.refused = 0
    await fleet.clock.advance(120_000)
    expect(room.refused).toBeGreaterThan(1)
    expect(local.writes).toEqual([])
    room.left = 1
    await fleet.clock.advance(31_000)
    await fleet.settle()
    expect(await messageOf()).toMatchObject({ status: 'True', reason: 'Exported', message: '' })
    expect(await fleet.member('c2').slicesOf('web0')).toHaveLength(1)
  })

  it('are forgotten with their endpoints', async () => {
    await fullHub('exportedendpointslices', 0)
    await exportMany(1)
    const { local } = fleet.member('c1')
    await local.create(slices, slice('web0-a', ['10.1.0.1']), AbortSignal.timeout(5_000))
    await fleet.settle()
    expect(await readyOf(['web0'])).toEqual({ 'False/Failed': 1 })
    await fleet.member('c1').remove(slices, { namespace: 'shop', name: 'web0-a' })
    await fleet.settle()
    expect(await readyOf(['web0'])).toEqual({ 'True/Exported': 1 })
  })
})
