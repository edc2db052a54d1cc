/** The cluster that a process stands in, and how it is reached. */
import { ClusterClient } from '../cluster/client.ts'
import { fromServiceAccount } from '../cluster/in-cluster.ts'
import { fromKubeconfig } from '../cluster/kubeconfig.ts'
import type { Context } from './context.ts'

/** What stands for a file where the service account of the pod is meant. */
const inCluster = 'in-cluster'

export type Kubeconfig = { readonly path: string; readonly context?: string }

/** Throws an `Error` with one sentence when the file, or the service account, cannot be used. */
export async function connect(
  { path, context: named }: Kubeconfig,
  { clock, metrics }: Pick<Context, 'clock' | 'metrics'>,
): Promise<ClusterClient> {
  const found =
    path === inCluster
      ? fromServiceAccount({ clock })
      : await fromKubeconfig({ path, clock, ...(named === undefined ? {} : { context: named }) })
  return new ClusterClient({ ...found, clock, metrics })
}
