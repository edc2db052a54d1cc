/** What every implementation of the `Cluster` seam promises. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/api/meta.ts'
import type { Cluster, ClusterEvent, Resource } from '../../src/cluster/cluster.ts'
import { never } from '../../src/kernel/abort.ts'

export type ClusterUnderTest = {
  readonly cluster: Cluster
  /** Makes the server forget the history of all changes up to now. */
  compact(): Promise<void>
  /** Makes the server end all open watches in good order. */
  endWatches(): Promise<void>
  /** Makes the server send a bookmark on the open watches, or waits for the next one. */
  bookmark(): Promise<void>
  close(): Promise<void>
}

type Export = KubeObject & {
  readonly spec?: { readonly exportedLabels?: Readonly<Record<string, string>> }
  readonly status?: { readonly conditions?: readonly unknown[] }
}

const exports: Resource<Export> = {
  group: 'multicluster.x-k8s.io',
  version: 'v1beta1',
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  plural: 'serviceexports',
  namespaced: true,
}
const alphaExports: Resource<Export> = {
  ...exports,
  version: 'v1alpha1',
  apiVersion: 'multicluster.x-k8s.io/v1alpha1',
}

const condition = {
  type: 'Valid',
  status: 'True',
  reason: 'Valid',
  message: '',
  lastTransitionTime: '2026-01-02T03:04:05Z',
}

function anExport(name: string, metadata: Partial<KubeObject['metadata']> = {}, team = 'a'): Export {
  return {
    apiVersion: exports.apiVersion,
    kind: exports.kind,
    metadata: { namespace: 'shop', name, ...metadata },
    spec: { exportedLabels: { team } },
  }
}

/** Reads the next `count` events that are no bookmarks. */
async function take(
  events: AsyncIterable<ClusterEvent<Export>>,
  count: number,
): Promise<readonly (readonly [string, string])[]> {
  const taken: (readonly [string, string])[] = []
  for await (const event of events) {
    if (event.type === 'BOOKMARK') continue
    taken.push([event.type, event.object.metadata.name])
    if (taken.length === count) break
  }
  return taken
}

async function drained<T>(events: AsyncIterable<T>): Promise<void> {
  for await (const _event of events) {
    // Only the end matters.
  }
}

/** `make` starts a server that is empty but for the namespaces `shop` and `other`. */
export function clusterConformance(title: string, make: () => Promise<ClusterUnderTest>): void {
  describe(`${title} as a cluster`, () => {
    let tested: ClusterUnderTest
    let cluster: Cluster
    beforeEach(async () => {
      tested = await make()
      cluster = tested.cluster
    })
    afterEach(() => tested.close())

    objects(() => cluster)
    deletion(() => cluster)
    lists(() => cluster)
    watches(() => tested)
  })
}

function objects(cluster: () => Cluster): void {
  it('creates an object and fills what a server fills', async () => {
    const created = await cluster().create(exports, anExport('web'), never)
    expect(created).toMatchObject({
      apiVersion: exports.apiVersion,
      kind: 'ServiceExport',
      metadata: { namespace: 'shop', name: 'web', generation: 1 },
      spec: { exportedLabels: { team: 'a' } },
    })
    expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect(created.metadata.resourceVersion).toMatch(/^[1-9]\d*$/)
    expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(await cluster().get(exports, { namespace: 'shop', name: 'web' }, never)).toEqual(created)
  })

  it('makes a name from generateName', async () => {
    const { metadata: _metadata, ...body } = anExport('x')
    const object: Export = { ...body, metadata: { name: '', namespace: 'shop', generateName: 'web-' } }
    const created = await cluster().create(exports, object, never)
    expect(created.metadata.name).toMatch(/^web-[a-z0-9]{5}$/)
  })

  it('refuses to create what exists', async () => {
    await cluster().create(exports, anExport('web'), never)
    await expect(cluster().create(exports, anExport('web'), never)).rejects.toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'serviceexports.multicluster.x-k8s.io "web" already exists',
    })
  })

  it('says NotFound with the name and the resource', async () => {
    const gone = cluster().get(exports, { namespace: 'shop', name: 'web' }, never)
    await expect(gone).rejects.toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'serviceexports.multicluster.x-k8s.io "web" not found',
      details: { name: 'web', group: 'multicluster.x-k8s.io', kind: 'serviceexports' },
    })
  })

  it('shows an object at the version that is asked for', async () => {
    await cluster().create(exports, anExport('web'), never)
    const shown = await cluster().get(alphaExports, { namespace: 'shop', name: 'web' }, never)
    expect(shown.apiVersion).toBe('multicluster.x-k8s.io/v1alpha1')
  })

  it('counts generation on a change of the spec only', async () => {
    const created = await cluster().create(exports, anExport('web'), never)
    const labelled = { ...created, metadata: { ...created.metadata, labels: { a: 'b' } } }
    const second = await cluster().replace(exports, labelled, {}, never)
    expect(second.metadata.generation).toBe(1)
    const third = await cluster().replace(exports, { ...second, spec: {} }, {}, never)
    expect(third.metadata.generation).toBe(2)
    expect(third.metadata.creationTimestamp).toBe(created.metadata.creationTimestamp)
  })

  it('refuses a replace of another version than the current one', async () => {
    const created = await cluster().create(exports, anExport('web'), never)
    await cluster().replace(exports, { ...created, spec: {} }, {}, never)
    await expect(cluster().replace(exports, created, {}, never)).rejects.toMatchObject({
      code: 409,
      reason: 'Conflict',
    })
  })

  it('writes nothing when a replace changes nothing', async () => {
    const created = await cluster().create(exports, anExport('web'), never)
    expect(await cluster().replace(exports, created, {}, never)).toEqual(created)
  })

  it('keeps status and spec apart', async () => {
    const created = await cluster().create(exports, { ...anExport('web'), status: { conditions: [] } }, never)
    expect(created.status).toBeUndefined()
    const sent = { ...created, spec: {}, status: { conditions: [condition] } }
    const reported = await cluster().replace(exports, sent, { subresource: 'status' }, never)
    expect(reported).toMatchObject({ spec: { exportedLabels: { team: 'a' } }, status: sent.status })
    expect(reported.metadata.generation).toBe(1)
    const { status: _status, ...withoutStatus } = reported
    const again = await cluster().replace(exports, { ...withoutStatus, spec: {} }, {}, never)
    expect(again.status).toEqual(sent.status)
  })

  it('applies a merge patch, also to the status', async () => {
    await cluster().create(exports, anExport('web', { labels: { a: '1', b: '2' } }), never)
    const ref = { namespace: 'shop', name: 'web' }
    const patch = { metadata: { labels: { a: null, c: '3' } } }
    const patched = await cluster().mergePatch(exports, ref, patch, { signal: never })
    expect(patched.metadata.labels).toEqual({ b: '2', c: '3' })
    const status = { status: { conditions: [condition] } }
    const reported = await cluster().mergePatch(exports, ref, status, {
      subresource: 'status',
      signal: never,
    })
    expect(reported.status).toEqual(status.status)
  })

  it('gives up when its signal aborts', async () => {
    const gone = AbortSignal.abort(new Error('stopped'))
    await expect(cluster().list(exports, {}, gone)).rejects.toThrow('stopped')
  })
}

function deletion(cluster: () => Cluster): void {
  const ref = { namespace: 'shop', name: 'web' }

  it('deletes an object', async () => {
    await cluster().create(exports, anExport('web'), never)
    await cluster().delete(exports, ref, { signal: never })
    await expect(cluster().get(exports, ref, never)).rejects.toMatchObject({ reason: 'NotFound' })
    await expect(cluster().delete(exports, ref, { signal: never })).rejects.toMatchObject({
      reason: 'NotFound',
    })
  })

  it('deletes only the object that was meant', async () => {
    const created = await cluster().create(exports, anExport('web'), never)
    const other = cluster().delete(exports, ref, {
      uid: '11111111-2222-4333-8444-555555555555',
      signal: never,
    })
    await expect(other).rejects.toMatchObject({ reason: 'Conflict' })
    const stale = cluster().delete(exports, ref, { resourceVersion: '1', signal: never })
    await expect(stale).rejects.toMatchObject({ reason: 'Conflict' })
    const { uid = '', resourceVersion = '' } = created.metadata
    await cluster().delete(exports, ref, { uid, resourceVersion, signal: never })
  })

  it('keeps an object with finalizers, marked, until the last one is gone', async () => {
    await cluster().create(exports, anExport('web', { finalizers: ['isthmus.dev/a'] }), never)
    await cluster().delete(exports, ref, { signal: never })
    const marked = await cluster().get(exports, ref, never)
    expect(marked.metadata.deletionTimestamp).toBeDefined()
    const patch = { metadata: { finalizers: null } }
    await cluster().mergePatch(exports, ref, patch, { signal: never })
    await expect(cluster().get(exports, ref, never)).rejects.toMatchObject({ reason: 'NotFound' })
  })

  it('deletes what a selector selects', async () => {
    await cluster().create(exports, anExport('a', { labels: { app: 'x' } }), never)
    await cluster().create(exports, anExport('b', { labels: { app: 'y' } }), never)
    await cluster().deleteCollection(exports, { namespace: 'shop', labelSelector: 'app=x' }, never)
    const left = await cluster().list(exports, {}, never)
    expect(left.items.map(item => item.metadata.name)).toEqual(['b'])
  })
}

function lists(cluster: () => Cluster): void {
  it.each([
    [{}, ['other/a', 'shop/a', 'shop/b']],
    [{ namespace: 'shop' }, ['shop/a', 'shop/b']],
    [{ labelSelector: 'app=x' }, ['shop/a']],
    [{ labelSelector: 'app in (x,y),tier!=front' }, ['shop/b']],
    [{ labelSelector: '!app' }, ['other/a']],
    [{ fieldSelector: 'metadata.name=a' }, ['other/a', 'shop/a']],
    [{ fieldSelector: 'metadata.name!=a', namespace: 'shop' }, ['shop/b']],
  ])('lists by %j', async (selection, expected) => {
    await cluster().create(exports, anExport('b', { labels: { app: 'y' } }), never)
    await cluster().create(exports, anExport('a', { labels: { app: 'x', tier: 'front' } }), never)
    await cluster().create(exports, anExport('a', { namespace: 'other' }), never)
    const listed = await cluster().list(exports, selection, never)
    expect(listed.items.map(item => `${item.metadata.namespace}/${item.metadata.name}`)).toEqual(expected)
    expect(listed.items.every(item => item.kind === 'ServiceExport')).toBe(true)
    expect(listed.items.every(item => item.apiVersion === exports.apiVersion)).toBe(true)
  })

  it('lists more objects than a page holds', async () => {
    const names = Array.from({ length: 1100 }, (_, at) => `web-${String(at).padStart(4, '0')}`)
    await Promise.all(names.map(name => cluster().create(exports, anExport(name), never)))
    const listed = await cluster().list(exports, { namespace: 'shop' }, never)
    expect(listed.items.map(item => item.metadata.name)).toEqual(names)
  })

  it('refuses a selector that it cannot read', async () => {
    const listed = cluster().list(exports, { labelSelector: 'a=b=c' }, never)
    await expect(listed).rejects.toMatchObject({ code: 400, reason: 'BadRequest' })
  })
}

function watches(tested: () => ClusterUnderTest): void {
  const cluster = (): Cluster => tested().cluster
  const ref = { namespace: 'shop', name: 'web' }

  it('tells every change after a list, once and in order', async () => {
    await cluster().create(exports, anExport('before'), never)
    const { resourceVersion } = await cluster().list(exports, {}, never)
    const events = take(cluster().watch(exports, { resourceVersion }, never), 3)
    await cluster().create(exports, anExport('web'), never)
    await cluster().mergePatch(exports, ref, { spec: { exportedLabels: { a: 'b' } } }, { signal: never })
    await cluster().delete(exports, ref, { signal: never })
    expect(await events).toEqual([
      ['ADDED', 'web'],
      ['MODIFIED', 'web'],
      ['DELETED', 'web'],
    ])
  })

  it('goes on from an earlier revision', async () => {
    const created = await cluster().create(exports, anExport('web'), never)
    await cluster().create(exports, anExport('db'), never)
    await cluster().create(exports, anExport('other', { namespace: 'other' }), never)
    const resourceVersion = created.metadata.resourceVersion ?? ''
    const all = await take(cluster().watch(exports, { resourceVersion }, never), 2)
    expect(all).toEqual([
      ['ADDED', 'db'],
      ['ADDED', 'other'],
    ])
    const one = await take(cluster().watch(exports, { resourceVersion, namespace: 'other' }, never), 1)
    expect(one).toEqual([['ADDED', 'other']])
  })

  it('shows an object that stops matching its selector as deleted', async () => {
    const { resourceVersion } = await cluster().list(exports, {}, never)
    const selection = { resourceVersion, labelSelector: 'app=x' }
    const events = take(cluster().watch(exports, selection, never), 3)
    await cluster().create(exports, anExport('web'), never)
    await cluster().mergePatch(exports, ref, { metadata: { labels: { app: 'x' } } }, { signal: never })
    await cluster().mergePatch(exports, ref, { spec: { exportedLabels: { team: 'b' } } }, { signal: never })
    await cluster().mergePatch(exports, ref, { metadata: { labels: { app: 'y' } } }, { signal: never })
    expect(await events).toEqual([
      ['ADDED', 'web'],
      ['MODIFIED', 'web'],
      ['DELETED', 'web'],
    ])
  })

  it('says Expired when the revision is no longer kept', async () => {
    const { resourceVersion } = await cluster().list(exports, {}, never)
    await cluster().create(exports, anExport('web'), never)
    await tested().compact()
    const watching = drained(cluster().watch(exports, { resourceVersion }, never))
    await expect(watching).rejects.toMatchObject({ code: 410, reason: 'Expired' })
  })

  it('ends without an error when the server ends the watch', async () => {
    const { resourceVersion } = await cluster().list(exports, {}, never)
    const watching = (async () => {
      for await (const event of cluster().watch(exports, { resourceVersion }, never)) {
        if (event.type !== 'BOOKMARK') await tested().endWatches()
      }
    })()
    await cluster().create(exports, anExport('web'), never)
    await watching
  })

  it('carries a bookmark past changes of other objects', async () => {
    const { resourceVersion } = await cluster().list(exports, {}, never)
    const bookmark = (async () => {
      const selection = { resourceVersion, labelSelector: 'app=none' }
      for await (const event of cluster().watch(exports, selection, never)) {
        if (event.type === 'BOOKMARK' && Number(event.resourceVersion) > Number(resourceVersion)) return event
      }
      return undefined
    })()
    const created = await cluster().create(exports, anExport('web'), never)
    await tested().bookmark()
    expect(Number((await bookmark)?.resourceVersion)).toBeGreaterThanOrEqual(
      Number(created.metadata.resourceVersion),
    )
  })

  it('ends with the reason when its signal aborts', async () => {
    const { resourceVersion } = await cluster().list(exports, {}, never)
    const stop = new AbortController()
    const watching = drained(cluster().watch(exports, { resourceVersion }, stop.signal))
    stop.abort(new Error('stopped'))
    await expect(watching).rejects.toThrow('stopped')
  })
}
