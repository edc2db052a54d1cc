import type { ObjectMeta } from './meta.ts'
import { wellKnown } from './well-known.ts'

/**
 * The Service that an EndpointSlice of a cluster holds endpoints of. Undefined for slices of no Service, and for imported
 * ones: exported again they would go round in a loop.
 */
export function sourceServiceOf({
  metadata,
}: {
  readonly metadata: ObjectMeta
}): { readonly namespace: string; readonly name: string } | undefined {
  const name = metadata.labels?.[wellKnown.coreServiceName]
  const imported = metadata.labels?.[wellKnown.sourceCluster] !== undefined
  return name === undefined || imported ? undefined : { namespace: metadata.namespace ?? '', name }
}
