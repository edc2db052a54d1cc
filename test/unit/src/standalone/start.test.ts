// The loops against a whole API server, over HTTPS: finalizers, propagation and /finalize are the server's there.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { clusterIpPlugin } from '../../../../apiservice/admission/cluster-ip.ts'
import {
  makeNamespaceLifecycle,
  storedNamespaces,
} from '../../../../apiservice/admission/namespace-lifecycle.ts'
import { bootstrapPolicy } from '../../../../apiservice/authz/bootstrap-policy.ts'
import { followStore } from '../../../../apiservice/store/follow.ts'
import { openMemoryStore } from '../../../../apiservice/store/memory-store.ts'
import { ConfigMapKind } from '../../../../src/api/kinds/config-map.ts'
import { kinds } from '../../../../src/api/kinds/index.ts'
import { NamespaceKind } from '../../../../src/api/kinds/namespace.ts'
import { ServiceKind } from '../../../../src/api/kinds/service.ts'
import type { KubeObject } from '../../../../src/api/meta.ts'
import { ClusterClient } from '../../../../src/cluster/client.ts'
import { type Cluster, type Ref, type Resource, resource } from '../../../../src/cluster/cluster.ts'
import { startInformer } from '../../../../src/cluster/informer.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { systemClock } from '../../../../src/kernel/clock.ts'
import { isReason } from '../../../../src/kernel/errors.ts'
import { memoryLogger, silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { storedFeed } from '../../../../src/roles/stored-feed.ts'
import { bootstrap } from '../../../../src/standalone/bootstrap.ts'
import type { ObjectFeed } from '../../../../src/standalone/object-feed.ts'
import { startStandaloneLoops } from '../../../../src/standalone/start.ts'
import { type TestServer, testServer } from '../../../support/api-server.ts'

// Tests look at metadata, status and spec as plain JSON.
const configMaps = resource(ConfigMapKind) as Resource
const namespaces = resource(NamespaceKind) as Resource
const services = resource(ServiceKind) as Resource

const stop = new AbortController()
const log = memoryLogger()
let server: TestServer
let cluster: ClusterClient
let objects: ObjectFeed

beforeAll(async () => {
  const base = { clock: systemClock, log: silentLogger, metrics: noMetrics }
  const store = await openMemoryStore(base)
  const clusterIp = clusterIpPlugin({
    ...base,
    cidrs: ['10.96.0.0/24', 'fd00:96::/112'],
    nodePorts: { first: 30_000, last: 32_767 },
  })
  const follow = followStore(store, base)
  objects = storedFeed(follow, base)
  await clusterIp.start(follow, stop.signal)
  server = await testServer({
    store,
    admission: [makeNamespaceLifecycle(storedNamespaces(store)), clusterIp],
  })
  const credentials = {
    ca: server.authority.certificate,
    cert: server.admin.certificate,
    key: server.admin.key,
  }
  cluster = new ClusterClient({
    name: 'standalone',
    servers: [server.url],
    credentials: () => Promise.resolve(credentials),
    clock: systemClock,
  })
  await bootstrap({ cluster, policy: bootstrapPolicy, log }, stop.signal)
  await startStandaloneLoops({ cluster, objects, kinds, clock: systemClock, log }, stop.signal)
})

afterAll(async () => {
  stop.abort()
  cluster.close()
  await server.close()
})

/** Resolves when `isSo` holds for the object, which is undefined when there is none. */
async function until(
  of: Resource,
  ref: Ref,
  isSo: (object: KubeObject | undefined) => boolean,
): Promise<void> {
  const end = new AbortController()
  try {
    const informer = startInformer(cluster, of, { clock: systemClock, log: silentLogger }, end.signal)
    await informer.synced
    await new Promise<void>(resolve => {
      if (isSo(informer.get(ref))) resolve()
      informer.onChange(() => {
        if (isSo(informer.get(ref))) resolve()
      })
    })
  } finally {
    end.abort()
  }
}

const gone = (object: KubeObject | undefined): boolean => object === undefined

async function make(of: Resource, namespace: string, name: string, more: object = {}): Promise<KubeObject> {
  const { metadata, ...rest } = { metadata: {}, ...more }
  const scope = namespace === '' ? {} : { namespace }
  const object = {
    apiVersion: of.apiVersion,
    kind: of.kind,
    metadata: { ...scope, name, ...metadata },
    ...rest,
  }
  return cluster.create(of, object, never)
}

const remove = (of: Resource, ref: Ref, propagationPolicy?: 'Background' | 'Foreground' | 'Orphan') =>
  cluster.delete(of, ref, {
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    signal: never,
  })

const ownedBy = ({ apiVersion, kind, metadata }: KubeObject, blockOwnerDeletion = true) => ({
  metadata: {
    ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', blockOwnerDeletion }],
  },
})

it('the namespaces and roles of every cluster are there, and a second start changes nothing', async () => {
  const names = (await cluster.list(namespaces, {}, never)).items.map(item => item.metadata.name)
  expect(names).toEqual(expect.arrayContaining(['default', 'kube-node-lease', 'kube-public', 'kube-system']))
  const before = (await cluster.list(namespaces, {}, never)).resourceVersion
  const once = new AbortController()
  await bootstrap({ cluster, policy: bootstrapPolicy, log }, once.signal)
  await startStandaloneLoops({ cluster, objects, kinds, clock: systemClock, log }, once.signal)
  once.abort()
  expect((await cluster.list(namespaces, {}, never)).resourceVersion).toBe(before)
})

it('a namespace goes with everything in it', async () => {
  await make(namespaces, '', 'short')
  await make(configMaps, 'short', 'a')
  await make(services, 'short', 'web', { spec: { ports: [{ port: 80 }] } })
  await remove(namespaces, { name: 'short' })
  await until(namespaces, { name: 'short' }, gone)
  expect((await cluster.list(configMaps, { namespace: 'short' }, never)).items).toEqual([])
})

it('a namespace tells what it waits for, and goes when that is gone', async () => {
  await make(namespaces, '', 'held')
  await make(configMaps, 'held', 'a', { metadata: { finalizers: ['example.com/slow'] } })
  await remove(namespaces, { name: 'held' })
  await until(namespaces, { name: 'held' }, object =>
    JSON.stringify(object?.status ?? {}).includes('example.com/slow in 1 resource instances'),
  )
  const held = await cluster.get(namespaces, { name: 'held' }, never)
  expect(held.status).toMatchObject({ phase: 'Terminating' })
  await expect(make(configMaps, 'held', 'b')).rejects.toMatchObject({ code: 403 })
  const free = { metadata: { finalizers: null } }
  await cluster.mergePatch(configMaps, { namespace: 'held', name: 'a' }, free, { signal: never })
  await until(namespaces, { name: 'held' }, gone)
})

it.each(['Background', 'Foreground'] as const)('dependents go with their owner: %s', async policy => {
  const name = policy.toLowerCase()
  const owner = await make(configMaps, 'default', name)
  const middle = await make(configMaps, 'default', `${name}-b`, ownedBy(owner))
  await make(configMaps, 'default', `${name}-c`, ownedBy(middle))
  await remove(configMaps, { namespace: 'default', name }, policy)
  for (const each of [name, `${name}-b`, `${name}-c`])
    await until(configMaps, { namespace: 'default', name: each }, gone)
})

it('an owner that is deleted in the foreground waits for its dependents', async () => {
  const owner = await make(configMaps, 'default', 'waiting')
  const held = ownedBy(owner)
  const metadata = { ...held.metadata, finalizers: ['example.com/slow'] }
  await make(configMaps, 'default', 'slow', { metadata })
  await remove(configMaps, { namespace: 'default', name: 'waiting' }, 'Foreground')
  await until(
    configMaps,
    { namespace: 'default', name: 'slow' },
    object => object?.metadata.deletionTimestamp !== undefined,
  )
  expect(await cluster.get(configMaps, { namespace: 'default', name: 'waiting' }, never)).toMatchObject({
    metadata: { finalizers: ['foregroundDeletion'] },
  })
  const free = { metadata: { finalizers: null } }
  await cluster.mergePatch(configMaps, { namespace: 'default', name: 'slow' }, free, { signal: never })
  await until(configMaps, { namespace: 'default', name: 'waiting' }, gone)
})

it('orphans live on without their owner', async () => {
  const owner = await make(configMaps, 'default', 'parent')
  await make(configMaps, 'default', 'orphan', ownedBy(owner))
  await remove(configMaps, { namespace: 'default', name: 'parent' }, 'Orphan')
  await until(configMaps, { namespace: 'default', name: 'parent' }, gone)
  const orphan = await cluster.get(configMaps, { namespace: 'default', name: 'orphan' }, never)
  expect(orphan.metadata).not.toHaveProperty('ownerReferences')
})

it('Services get addresses of both families and give them back', async () => {
  const spec = { ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 80 }] }
  const web = await make(services, 'default', 'web', { spec })
  const { clusterIP, clusterIPs } = web.spec as { clusterIP: string; clusterIPs: string[] }
  expect(clusterIPs).toEqual([clusterIP, expect.stringMatching(/^fd00:96::/)])
  const same = { spec: { clusterIP, ports: [{ port: 80 }] } }
  await expect(make(services, 'default', 'thief', same)).rejects.toMatchObject({ code: 422 })
  await remove(services, { namespace: 'default', name: 'web' })
  await until(services, { namespace: 'default', name: 'web' }, gone)
  const heir = await make(services, 'default', 'heir', same)
  expect(heir.spec).toMatchObject({ clusterIP, ipFamilies: ['IPv4'] })
})

it('nothing went wrong on the way', async () => {
  expect(log.lines.filter(line => line.level === 'error')).toEqual([])
  await expect(isThere(cluster, 'kube-system')).resolves.toBe(true)
  await expect(remove(namespaces, { name: 'kube-system' })).rejects.toMatchObject({ code: 403 })
})

async function isThere(of: Cluster, name: string): Promise<boolean> {
  try {
    await of.get(namespaces, { name }, never)
    return true
  } catch (thrown) {
    if (isReason(thrown, 'NotFound')) return false
    throw thrown
  }
}
