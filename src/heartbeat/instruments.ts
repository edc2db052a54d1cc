import { conditionOf, type MemberCluster } from '../api/kinds/member-cluster.ts'
import type { Informer } from '../cluster/cluster.ts'
import type { Metrics, Reading } from '../kernel/metrics.ts'

const states = ['available', 'unknown', 'not_accepted'] as const

export function observeMembers(memberClusters: Informer<MemberCluster>, metrics: Metrics): void {
  metrics.gaugeFrom(
    {
      name: 'isthmus_hub_members',
      help: 'Members of the ClusterSet: available, not heard of (unknown), or not accepted.',
      labels: ['state'],
    },
    () => membersByState(memberClusters.list()),
  )
}

function membersByState(members: readonly MemberCluster[]): readonly Reading[] {
  const counts = new Map<(typeof states)[number], number>()
  for (const member of members) {
    const state = stateOf(member)
    counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  return states.map(state => ({ labels: { state }, value: counts.get(state) ?? 0 }))
}

function stateOf({ spec, status }: MemberCluster): (typeof states)[number] {
  if (!spec.accepted) return 'not_accepted'
  return conditionOf(status, 'Available')?.status === 'True' ? 'available' : 'unknown'
}
