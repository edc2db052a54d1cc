import { type Namespace, NamespaceKind } from '../../src/api/kinds/namespace.ts'
import { type Cluster, type Informer, resource } from '../../src/cluster/cluster.ts'
import { sleep } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { isReason } from '../../src/kernel/errors.ts'
import type { NamespaceLookup } from './namespace-lifecycle.ts'

export type ClusterNamespacesOptions = {
  /** The cluster that the server stands in. */
  readonly cluster: Pick<Cluster, 'get'>
  /** Of all its namespaces. */
  readonly informer: Pick<Informer<Namespace>, 'get'>
  readonly clock: Clock
}

/** A namespace that was made just now is told within this time, as a rule. */
const graceMs = 50

/**
 * The namespaces of a cluster, as its informer knows them. One that is not known is waited for a moment and then asked
 * for, since it may be newer than what the informer has been told (k8s.io/apiserver `NamespaceLifecycle`).
 */
export function clusterNamespaces({ cluster, informer, clock }: ClusterNamespacesOptions): NamespaceLookup {
  return {
    async find(name, signal) {
      const known = informer.get({ name })
      if (known !== undefined) return stateOf(known)
      await sleep(clock, graceMs, signal)
      const told = informer.get({ name })
      if (told !== undefined) return stateOf(told)
      try {
        return stateOf(await cluster.get(resource(NamespaceKind), { name }, signal))
      } catch (thrown) {
        if (isReason(thrown, 'NotFound')) return undefined
        throw thrown
      }
    },
  }
}

function stateOf({ metadata, status }: Namespace): 'active' | 'terminating' {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Terminating'
    ? 'active'
    : 'terminating'
}
