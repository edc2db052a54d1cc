/** The member that is taken out of its cluster. */
import type { KubeObject } from '../api/meta.ts'
import type { ServiceName } from '../cluster/api-services.ts'
import type { Cluster, Resource } from '../cluster/cluster.ts'
import type { Clock } from '../kernel/clock.ts'

export type UninstallOptions = {
  readonly cluster: Cluster
  /** `<version>.<group>` of each. */
  readonly apiServices: readonly string[]
  /** Of the member; its Deployment has the same name. */
  readonly service: ServiceName
  readonly clock: Clock
  /** Told each thing that is done, and what is left. */
  report(line: string): void
}

export const deployments = workload('apps', 'v1', 'Deployment', 'deployments')
const pods = workload('', 'v1', 'Pod', 'pods')

function workload(group: string, version: string, kind: string, plural: string): Resource<KubeObject> {
  const apiVersion = group === '' ? version : `${group}/${version}`
  return { group, version, apiVersion, kind, plural, namespaced: true }
}

/** The pods of the member. */
export async function podsOf(
  { cluster, service }: UninstallOptions,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const { namespace, name } = service
  const component = name.replace(/^isthmus-/, '')
  const labelSelector = `app.kubernetes.io/name=isthmus,app.kubernetes.io/component=${component}`
  return (await cluster.list(pods, { namespace, labelSelector }, signal)).items
}
