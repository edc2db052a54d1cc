import { ClusterRoleKind } from '../../src/api/kinds/cluster-role.ts'
import { ConfigMapKind } from '../../src/api/kinds/config-map.ts'
import { kinds } from '../../src/api/kinds/index.ts'
import type { KubeObject, OwnerReference } from '../../src/api/meta.ts'
import { type Cluster, type Ref, type Resource, resource } from '../../src/cluster/cluster.ts'
import { startInformer } from '../../src/cluster/informer.ts'
import { MemoryCluster, type MemoryRequest } from '../../src/cluster/memory.ts'
import { never } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { isReason } from '../../src/kernel/errors.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import type { ObjectFeed } from '../../src/standalone/object-feed.ts'
import { manualClock, settled } from './manual-clock.ts'

// Tests look at metadata only, whatever the kind.
export const configMaps = resource(ConfigMapKind) as Resource
export const clusterRoles = resource(ClusterRoleKind) as Resource

/** A cluster without a server that knows all standalone kinds, and what is sent to it. */
export function memoryCluster(intercept: (request: MemoryRequest) => unknown = () => undefined) {
  const clock = manualClock()
  const requests: string[] = []
  const cluster = new MemoryCluster({
    name: 'memory',
    clock,
    kinds: kinds.filter(kind => kind.servers.includes('standalone') && kind.storage === 'stored'),
    intercept: request => {
      const { verb, resource: of, ref, subresource } = request
      if (verb !== 'watch' && verb !== 'list') {
        const what = subresource === '' ? of.plural : `${of.plural}/${subresource}`
        requests.push(`${verb} ${what}${ref === undefined ? '' : ` ${ref.name}`}`)
      }
      return Promise.resolve(intercept(request)).then(() => undefined)
    },
  })
  return { clock, cluster, requests }
}

/** What a cluster without a store has and writes, as a store would tell of it. */
export function feedOf(cluster: Cluster, clock: Clock): ObjectFeed {
  return async (resources, listener, signal) => {
    const discovered = await cluster.discover(signal)
    const informers = discovered
      .map(of => ({ resource: of.group === '' ? of.plural : `${of.plural}.${of.group}`, of }))
      .filter(({ resource: name }) => resources.includes(name))
      .map(({ resource: name, of }) => ({
        name,
        informer: startInformer(cluster, of, { clock, log: silentLogger }, signal),
      }))
    await Promise.all(informers.map(({ informer }) => informer.synced))
    listener.reset(
      informers.flatMap(({ name, informer }) =>
        informer.list().map(({ metadata }) => ({ resource: name, metadata })),
      ),
    )
    for (const { name, informer } of informers) {
      informer.onChange(({ before, after }) => {
        if (after !== undefined) listener.put({ resource: name, metadata: after.metadata })
        else if (before !== undefined) listener.removed({ resource: name, metadata: before.metadata })
      })
    }
  }
}

/** Lets loops go on until nothing more happens; time does not pass. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await settled()
}

/** A config map `shop/<name>`, or a cluster role when the name begins with `/`. */
export async function make(
  cluster: Cluster,
  name: string,
  more: Partial<KubeObject['metadata']> = {},
): Promise<KubeObject> {
  const isClusterWide = name.startsWith('/')
  const of = isClusterWide ? clusterRoles : configMaps
  const metadata = isClusterWide ? { name: name.slice(1), ...more } : { namespace: 'shop', name, ...more }
  return cluster.create(of, { apiVersion: of.apiVersion, kind: of.kind, metadata }, never)
}

export function ownerOf(object: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference {
  const { name, uid = '' } = object.metadata
  return { apiVersion: object.apiVersion, kind: object.kind, name, uid, ...more }
}

/** The object, or undefined when it is gone. */
export async function found(
  cluster: Cluster,
  name: string,
  namespace = 'shop',
): Promise<KubeObject | undefined> {
  const isClusterWide = name.startsWith('/')
  const ref: Ref = isClusterWide ? { name: name.slice(1) } : { namespace, name }
  try {
    return await cluster.get(isClusterWide ? clusterRoles : configMaps, ref, never)
  } catch (thrown) {
    if (isReason(thrown, 'NotFound')) return undefined
    throw thrown
  }
}

export async function namesLeft(cluster: Cluster): Promise<readonly string[]> {
  const lists = await Promise.all([
    cluster.list(configMaps, {}, never),
    cluster.list(clusterRoles, {}, never),
  ])
  return lists.flatMap(({ items }) => items.map(item => item.metadata.name)).toSorted()
}
