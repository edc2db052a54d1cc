import { expect, it } from 'vitest'
import { type Namespace, NamespaceKind } from '../../../../src/api/kinds/namespace.ts'
import { type DiscoveredResource, resource } from '../../../../src/cluster/cluster.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { methodNotAllowed, notFound, unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { startNamespaceDeletion } from '../../../../src/standalone/namespace-deletion.ts'
import { configMaps, make, memoryCluster, namesLeft, quiet } from '../../../support/owned.ts'

const namespaces = resource(NamespaceKind)

type World = ReturnType<typeof memoryCluster>

/** The namespace `shop`, held by its content, and by a finalizer of the test so that it can be looked at afterwards. */
async function shop({ cluster, clock }: World) {
  const namespace: Namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', finalizers: ['example.com/test'] },
    spec: { finalizers: ['example.com/other', 'kubernetes'] },
  }
  await cluster.create(namespaces, namespace, never)
  const log = memoryLogger()
  const start = () => startNamespaceDeletion({ cluster, clock, log }, never)
  const remove = async (): Promise<void> => {
    await cluster.delete(namespaces, { name: 'shop' }, { signal: never })
    await quiet()
  }
  const state = async () => {
    const { spec, status } = await cluster.get(namespaces, { name: 'shop' }, never)
    const conditions = (status?.conditions ?? []).map(
      ({ type, status: value, reason }) => `${type} ${value} ${reason}`,
    )
    return { finalizers: spec?.finalizers, conditions }
  }
  return { log, start, remove, state }
}

const good = {
  discovery: 'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered',
  parsing: 'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions',
  content: 'NamespaceDeletionContentFailure False ContentDeleted',
  remaining: 'NamespaceContentRemaining False ContentRemoved',
  finalizers: 'NamespaceFinalizersRemaining False ContentHasNoFinalizers',
}

it('a namespace that is deleted is emptied, and only our finalizer goes', async () => {
  const world = memoryCluster()
  const { start, remove, state } = await shop(world)
  await start()
  await make(world.cluster, 'a')
  await make(world.cluster, 'b', { namespace: 'other' })
  await make(world.cluster, '/role')
  await quiet()
  expect(await namesLeft(world.cluster)).toEqual(['a', 'b', 'role'])
  await remove()
  expect(await namesLeft(world.cluster)).toEqual(['b', 'role'])
  expect(await state()).toEqual({ finalizers: ['example.com/other'], conditions: Object.values(good) })
})

it('a deletion that began before we did is finished', async () => {
  const world = memoryCluster()
  const { start, remove, state } = await shop(world)
  await make(world.cluster, 'a')
  await remove()
  await start()
  await quiet()
  expect((await state()).finalizers).toEqual(['example.com/other'])
})

it('a namespace waits for the finalizers of its content and says so', async () => {
  const world = memoryCluster()
  const { log, start, remove, state } = await shop(world)
  await start()
  await make(world.cluster, 'a', { finalizers: ['example.com/slow'] })
  await make(world.cluster, 'b', { finalizers: ['example.com/slow', 'example.com/more'] })
  await remove()
  expect(await state()).toEqual({
    finalizers: ['example.com/other', 'kubernetes'],
    conditions: [
      good.discovery,
      good.parsing,
      good.content,
      'NamespaceContentRemaining True SomeResourcesRemain',
      'NamespaceFinalizersRemaining True SomeFinalizersRemain',
    ],
  })
  const { status } = await world.cluster.get(namespaces, { name: 'shop' }, never)
  expect(status?.conditions?.slice(3).map(condition => condition.message)).toEqual([
    'Some resources are remaining: configmaps. has 2 resource instances',
    'Some content in the namespace has finalizers remaining: example.com/more in 1 resource instances, example.com/slow in 2 resource instances',
  ])
  for (const name of ['a', 'b']) {
    const free = { metadata: { finalizers: null } }
    await world.cluster.mergePatch(configMaps, { namespace: 'shop', name }, free, { signal: never })
  }
  await world.clock.advance(15_000)
  await quiet()
  expect(await state()).toEqual({ finalizers: ['example.com/other'], conditions: Object.values(good) })
  expect(log.lines.filter(line => line.level === 'warn')).toEqual([])
})

it('a namespace that waits is looked at less and less often, and its status is written only when it changes', async () => {
  const world = memoryCluster()
  const { start, remove } = await shop(world)
  await start()
  await make(world.cluster, 'a', { finalizers: ['example.com/slow'] })
  await remove()
  for (let second = 0; second < 600; second++) await world.clock.advance(1000)
  const count = (request: string) => world.requests.filter(each => each === request).length
  expect(count('mergePatch namespaces/status shop')).toBe(1)
  expect(count('get namespaces shop')).toBeGreaterThan(40)
  expect(count('get namespaces shop')).toBeLessThan(60)
})

it('what cannot be deleted holds the namespace, is told and tried again; the rest goes', async () => {
  let isBroken: boolean = true
  const world = memoryCluster(({ verb, resource: of }) => {
    if (isBroken && verb === 'deleteCollection' && of.plural === 'services') throw unavailable('busy')
  })
  const { log, start, remove, state } = await shop(world)
  await start()
  await make(world.cluster, 'a')
  await remove()
  expect(await namesLeft(world.cluster)).toEqual([])
  expect(await state()).toMatchObject({
    finalizers: ['example.com/other', 'kubernetes'],
    conditions: expect.arrayContaining(['NamespaceDeletionContentFailure True ContentDeletionFailed']),
  })
  expect(log.lines[0]).toMatchObject({ level: 'warn', fields: { key: 'shop', error: 'services.: busy' } })
  isBroken = false
  await world.clock.advance(15_000)
  await quiet()
  expect(await state()).toEqual({ finalizers: ['example.com/other'], conditions: Object.values(good) })
})

it('a namespace is not let go while it is not known what could be in it', async () => {
  const world = memoryCluster()
  const { cluster, clock } = world
  const { start, remove, state } = await shop(world)
  const discover = cluster.discover.bind(cluster)
  cluster.discover = () => Promise.reject(unavailable('discovery is down'))
  await start()
  await remove()
  expect(await state()).toMatchObject({
    finalizers: ['example.com/other', 'kubernetes'],
    conditions: expect.arrayContaining(['NamespaceDeletionDiscoveryFailure True DiscoveryFailed']),
  })
  cluster.discover = discover
  await clock.advance(15_000)
  await quiet()
  expect((await state()).finalizers).toEqual(['example.com/other'])
})

it.each([
  [
    'is not offered',
    (verbs: readonly string[]) => verbs.filter(verb => verb !== 'deletecollection'),
    undefined,
  ],
  ['is refused', (verbs: readonly string[]) => verbs, methodNotAllowed()],
  ['is not found', (verbs: readonly string[]) => verbs, notFound({ group: '', resource: 'configmaps' }, '')],
])('where deleting a collection %s, objects are deleted one by one', async (_, verbsOf, refusal) => {
  const world = memoryCluster(({ verb }) => {
    if (verb === 'deleteCollection' && refusal !== undefined) throw refusal
  })
  const { cluster } = world
  const { start, remove, state } = await shop(world)
  const discover = cluster.discover.bind(cluster)
  cluster.discover = async signal =>
    (await discover(signal)).map((each): DiscoveredResource => ({ ...each, verbs: verbsOf(each.verbs) }))
  await start()
  await make(cluster, 'a')
  await make(cluster, 'b')
  await remove()
  expect(await namesLeft(cluster)).toEqual([])
  expect((await state()).finalizers).toEqual(['example.com/other'])
})

it('namespaces that stay, or that others hold, are left alone', async () => {
  const world = memoryCluster()
  const { start, remove } = await shop(world)
  const free = { spec: { finalizers: ['example.com/other'] } }
  await world.cluster.mergePatch(namespaces, { name: 'shop' }, free, { signal: never })
  await start()
  await make(world.cluster, 'a')
  await remove()
  await make(world.cluster, 'b', { namespace: 'other' })
  await quiet()
  expect(await namesLeft(world.cluster)).toEqual(['a', 'b'])
})
