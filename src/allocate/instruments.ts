import type { Metrics } from '../kernel/metrics.ts'
import type { Allocator } from './allocator.ts'

/** How full the pools are. */
export function observePools(allocator: Allocator, metrics: Metrics): void {
  const labels = ['family']
  metrics.gaugeFrom(
    {
      name: 'isthmus_allocate_held_addresses',
      help: 'ClusterSetIPs that services hold, published or not.',
      labels,
    },
    () => allocator.usage().map(({ family, used }) => ({ labels: { family }, value: used })),
  )
  metrics.gaugeFrom(
    {
      name: 'isthmus_allocate_pool_addresses',
      help: 'ClusterSetIPs that there are in all, held or free.',
      labels,
    },
    () => allocator.usage().map(({ family, size }) => ({ labels: { family }, value: Number(size) })),
  )
}
