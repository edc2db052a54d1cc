import { ClusterClient } from '../../src/cluster/client.ts'
import { fromKubeconfig } from '../../src/cluster/kubeconfig.ts'
import { systemClock } from '../../src/kernel/clock.ts'

/** A client for one context of a fleet's kubeconfig. Close it. */
export async function contextClient(kubeconfig: string, context: string): Promise<ClusterClient> {
  const found = await fromKubeconfig({ path: kubeconfig, context, clock: systemClock })
  return new ClusterClient({ ...found, clock: systemClock })
}
