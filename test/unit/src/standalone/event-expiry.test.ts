import { expect, it } from 'vitest'
import { EventKind } from '../../../../src/api/kinds/event.ts'
import { kinds } from '../../../../src/api/kinds/index.ts'
import { type Resource, resource } from '../../../../src/cluster/cluster.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { startExpiry } from '../../../../src/standalone/event-expiry.ts'
import { make, memoryCluster, namesLeft, quiet } from '../../../support/owned.ts'

// Only times matter here.
const events = resource(EventKind) as Resource
const hourMs = 3_600_000

async function expiry(intercept?: Parameters<typeof memoryCluster>[0]) {
  const world = memoryCluster(intercept)
  const { cluster, clock } = world
  const log = memoryLogger()
  const happen = (name: string, more: object = {}) =>
    cluster.create(
      events,
      { apiVersion: 'v1', kind: 'Event', metadata: { namespace: 'shop', name }, ...more },
      never,
    )
  const again = (name: string, patch: object) =>
    cluster.mergePatch(events, { namespace: 'shop', name }, patch, { signal: never })
  const left = async () => (await cluster.list(events, {}, never)).items.map(item => item.metadata.name)
  const pass = async (ms: number) => {
    await clock.advance(ms)
    await quiet()
  }
  const start = () => startExpiry({ cluster, kinds, clock, log }, never)
  return { ...world, log, happen, again, left, pass, start }
}

it('an event is gone an hour after it happened, other kinds stay', async () => {
  const { cluster, happen, left, pass, start } = await expiry()
  await start()
  await happen('a')
  await make(cluster, 'settings')
  await pass(hourMs / 2)
  await happen('b')
  await pass(hourMs / 2 - 30_000)
  expect(await left()).toEqual(['a', 'b'])
  await pass(60_000)
  expect(await left()).toEqual(['b'])
  await pass(hourMs / 2)
  expect(await left()).toEqual([])
  expect(await namesLeft(cluster)).toEqual(['settings'])
})

it('each write gives an event another hour', async () => {
  const { again, happen, left, pass, start } = await expiry()
  await start()
  await happen('a')
  await pass(hourMs - 60_000)
  await again('a', { count: 2 })
  await pass(hourMs - 60_000)
  expect(await left()).toEqual(['a'])
  await pass(120_000)
  expect(await left()).toEqual([])
})

it('after a restart events go by the times that they carry', async () => {
  const { clock, happen, left, pass, start } = await expiry()
  const later = new Date(clock.now() + hourMs / 2).toISOString()
  await happen('old')
  await happen('repeated', { lastTimestamp: later })
  await happen('series', { series: { count: 2, lastObservedTime: later } })
  await happen('managed', {
    metadata: { namespace: 'shop', name: 'managed', managedFields: [{ manager: 'x', time: later }] },
  })
  await happen('boasting', { lastTimestamp: '2999-01-01T00:00:00Z' })
  await pass(hourMs + 1000)
  await start()
  await quiet()
  expect(await left()).toEqual(['managed', 'repeated', 'series'])
  await pass(hourMs / 2)
  expect(await left()).toEqual([])
})

it('an event that is written while it is being deleted stays', async () => {
  const world = await expiry(({ verb }) => {
    if (verb === 'delete' && pending !== undefined) {
      const write = pending
      pending = undefined
      return write()
    }
    return undefined
  })
  let pending: (() => unknown) | undefined
  await world.start()
  await world.happen('a')
  pending = () => world.again('a', { count: 2 })
  await world.pass(hourMs + 30_000)
  expect(await world.left()).toEqual(['a'])
  await world.pass(hourMs + 30_000)
  expect(await world.left()).toEqual([])
})

it('a server that fails is asked again', async () => {
  let failures = 1
  const { happen, left, log, pass, start } = await expiry(({ verb }) => {
    if (verb === 'delete' && failures-- > 0) throw unavailable('busy')
  })
  await start()
  await happen('a')
  await pass(hourMs)
  expect([await left(), log.lines.at(-1)?.level]).toEqual([['a'], 'warn'])
  await pass(30_000)
  expect(await left()).toEqual([])
})
