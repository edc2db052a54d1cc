import { afterEach, describe, expect, it } from 'vitest'
import { EventKind } from '../../../src/api/kinds/event.ts'
import { refusalText } from '../../../src/api/membership-refusal.ts'
import { resource } from '../../../src/cluster/cluster.ts'
import { MemoryCluster } from '../../../src/cluster/memory.ts'
import { HubStanding } from '../../../src/hub-standing.ts'
import { never } from '../../../src/kernel/abort.ts'
import { forbidden } from '../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../src/kernel/log.ts'
import { linkTo } from '../../support/link.ts'
import { manualClock } from '../../support/manual-clock.ts'
import {
  type MemoryFleet,
  type MemoryMember,
  memoryFleet,
  serviceExports,
  services,
} from '../../support/memory-fleet.ts'
import { exportWeb, service, serviceExport } from '../../support/shop.ts'

let running: MemoryFleet | undefined

async function exportedByC1(): Promise<{ readonly fleet: MemoryFleet; readonly c1: MemoryMember }> {
  const fleet = await memoryFleet()
  running = fleet
  const c1 = fleet.member('c1')
  await exportWeb(c1)
  await exportWeb(fleet.member('c2'), { address: '10.2.0.1' })
  await fleet.settle()
  return { fleet, c1 }
}

afterEach(() => {
  running?.end()
  running = undefined
})

const exported = { Valid: 'True/Valid', Ready: 'True/Exported', Conflict: 'False/NoConflicts' }
const where = { group: 'hub.isthmus.dev', resource: 'exportedservices' }
const refusedFor = (text: string): Error =>
  forbidden(where, '', `User "hub.isthmus.dev:member:c1" cannot list resource "exportedservices": ${text}`)
const evicted = refusedFor(refusalText('not accepted', 'c1'))

/** A retry is due within half a minute. */
async function later(fleet: MemoryFleet): Promise<void> {
  await fleet.clock.advance(60_000)
  await fleet.settle()
}

async function readyOf(member: MemoryMember, name = 'web'): Promise<string> {
  const found = await member.local.find(serviceExports, name, 'shop')
  const ready = found?.status?.conditions?.find(condition => condition.type === 'Ready')
  return `${ready?.status} ${ready?.reason} ${ready?.message}`
}

async function warningsOf(member: MemoryMember) {
  const { items } = await member.local.list(resource(EventKind), { namespace: 'shop' }, never)
  return items
    .filter(({ type }) => type === 'Warning')
    .map(({ reason, message, count, involvedObject }) => ({
      name: involvedObject.name,
      reason,
      message,
      count,
    }))
}

describe('a member that the hub refuses', () => {
  it.each([
    ['this cluster is not accepted by the hub', evicted],
    ['this cluster is no longer known to the hub', refusedFor(refusalText('not joined', 'c1'))],
    ['the hub has given this cluster another certificate since', refusedFor(refusalText('renewed', 'c1'))],
  ])('says on every export, once, that %s, and keeps its imports', async (message, refusal) => {
    const { fleet, c1 } = await exportedByC1()
    await c1.apply(services, service('api'))
    await c1.apply(serviceExports, serviceExport('api'))
    await fleet.settle()
    const imported = await c1.importOf('web')
    const imports = await c1.slicesOf('web')
    c1.hub.cut(refusal)
    await later(fleet)
    await later(fleet)
    for (const name of ['web', 'api']) expect(await readyOf(c1, name)).toBe(`False Failed ${message}`)
    const told = { reason: 'ExportFailed', message, count: 1 }
    expect(await warningsOf(c1)).toEqual(
      expect.arrayContaining([
        { name: 'web', ...told },
        { name: 'api', ...told },
      ]),
    )
    expect(await warningsOf(c1)).toHaveLength(2)
    expect(await c1.importOf('web')).toEqual(imported)
    expect(await c1.slicesOf('web')).toEqual(imports)
  })

  it('says so of what is exported meanwhile, and sends it when it is accepted again', async () => {
    const { fleet, c1 } = await exportedByC1()
    c1.hub.cut(evicted)
    await later(fleet)
    await c1.apply(services, service('api'))
    await c1.apply(serviceExports, serviceExport('api'))
    await later(fleet)
    expect(await readyOf(c1, 'api')).toBe('False Failed this cluster is not accepted by the hub')
    c1.hub.restore()
    await later(fleet)
    for (const name of ['web', 'api']) expect(await c1.conditionsOf(name)).toEqual(exported)
    expect(await fleet.member('c2').importOf('api')).toBeDefined()
  })

  it('learns it also when it starts', async () => {
    const { fleet, c1 } = await exportedByC1()
    c1.stop()
    c1.hub.cut(evicted)
    c1.start()
    await later(fleet)
    expect(await readyOf(c1)).toBe('False Failed this cluster is not accepted by the hub')
  })

  it('counts another refusal of the same kind in the same Event', async () => {
    const { fleet, c1 } = await exportedByC1()
    for (let round = 0; round < 2; round++) {
      c1.hub.cut(evicted)
      await later(fleet)
      c1.hub.restore()
      await later(fleet)
    }
    expect(await warningsOf(c1)).toMatchObject([{ name: 'web', reason: 'ExportFailed', count: 2 }])
  })
})

describe('a member whose hub', () => {
  it.each([
    ['is away', undefined],
    ['refuses one thing', refusedFor('not granted to clusters')],
    ['speaks of another cluster', refusedFor(refusalText('not accepted', 'c2'))],
  ])('%s leaves what was exported as ready as it was', async (_, thrown) => {
    const { fleet, c1 } = await exportedByC1()
    c1.hub.cut(thrown)
    await later(fleet)
    expect(await c1.conditionsOf('web')).toEqual(exported)
    expect(await warningsOf(c1)).toEqual([])
  })
})

describe('an answer', () => {
  it('to a request that is older than the refusal does not undo it', async () => {
    const held = Promise.withResolvers<void>()
    const answers = [() => held.promise, () => Promise.reject(evicted)]
    const hub = linkTo(new MemoryCluster({ name: 'hub', kinds: [], clock: manualClock() }))
    const standing = new HubStanding('c1', memoryLogger())
    const observed = standing.observe({
      ...hub,
      deleteCollection: () => answers.shift()?.() ?? Promise.resolve(),
    })
    const ask = (): Promise<void> => observed.deleteCollection(resource(EventKind), {}, never)
    const slow = ask()
    await expect(ask()).rejects.toBe(evicted)
    held.resolve()
    await slow
    expect(standing.refusal).toBe('this cluster is not accepted by the hub')
    await ask()
    expect(standing.refusal).toBeUndefined()
  })
})
