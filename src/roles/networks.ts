/** Follows the blocks of addresses that the cluster of a member uses by itself. */
import { equalJson } from '../cluster/json.ts'
import type { Networks } from '../heartbeat/lease.ts'
import { background } from '../kernel/abort.ts'
import { every } from '../kernel/work-queue.ts'
import type { Context } from './context.ts'
import type { MemberCluster } from './member-cluster.ts'

/** Nodes come and go: their list is long, and what they add lies mostly in the blocks that are known. */
const rereadMs = 600_000

type Known = { readonly serviceCidrs: readonly string[]; readonly podCidrs?: readonly string[] | undefined }

export type FollowedNetworks = {
  networks(): Networks
  /** Told when others are known. */
  onNetworks(listener: () => void): void
}

/** What is known by now, at first from the settings; asked of the cluster until the signal of the context aborts. */
export function followNetworks(
  cluster: Pick<MemberCluster, 'networks'>,
  { podCidrs = [], serviceCidrs }: Known,
  { clock, log, signal }: Context,
): FollowedNetworks {
  let known: Networks = { services: serviceCidrs, pods: podCidrs }
  const task = { name: 'read blocks of the cluster', intervalMs: rereadMs, clock, log }
  const listeners: (() => void)[] = []
  const look = async (inner: AbortSignal): Promise<void> => {
    const found = await cluster.networks(inner)
    if (equalJson(known, found)) return
    known = found
    for (const listener of listeners) listener()
  }
  background(task.name, log, signal, () => every(task, look, signal))
  return { networks: () => known, onNetworks: listener => listeners.push(listener) }
}
