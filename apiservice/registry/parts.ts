/**
 * The registry: what every verb does to every kind. It takes a request that was allowed, and answers a `Reply`.
 * It owns names, uids, generations, finalizers, status and the rules of lists and watches; it knows kinds only by what
 * they declare. It refuses what the kind's schema refuses, and never answers before the store has made a write durable.
 *
 *     document → strategy → admission → validation → store
 *
 * Every write also says who manages which fields (ownership.ts), which server-side apply (apply.ts) goes by.
 */
import type { AnyKind } from '../../src/api/kind.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { KindRef, ResourceRef } from '../../src/kernel/errors.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { Metrics } from '../../src/kernel/metrics.ts'
import type { Pace } from '../../src/kernel/turn.ts'
import type { Admission, ApiRequest, RequireAccess, Review, ServedKind, View } from '../contract.ts'
import type { ObjectKey, Store } from '../store-contract.ts'
import type { WrittenObjects } from './current.ts'

export type RegistryParts = {
  readonly kinds: readonly AnyKind[]
  readonly store: Store
  readonly admission: Admission
  /** By `<plural>.<group>`, one for each kind whose storage is `review`. */
  readonly reviews: ReadonlyMap<string, Review>
  /** By `<plural>.<group>`, one for each kind whose storage is `view`. */
  readonly views: ReadonlyMap<string, View>
  /** Asked whether a user may create what a PUT does not find. Absent: everybody may. */
  readonly authorize?: RequireAccess
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

/** A kind at one of its versions, with the names that it has in different places. */
export type Resource = {
  readonly kind: AnyKind
  readonly served: ServedKind
  readonly apiVersion: string
  /** `<plural>.<group>`, as the store names it. */
  readonly qualified: string
  readonly ref: ResourceRef
  readonly kindRef: KindRef
  /** The warning of a deprecated version. */
  readonly deprecated: string | undefined
}

export type Subresource = '' | 'status' | 'scale' | 'finalize'

/** Kinds that are built into kube-apiserver: in some answers it differs from custom resources. */
export function isBuiltIn({ strategicMergePatch, storage }: AnyKind): boolean {
  return strategicMergePatch || storage === 'review'
}

/** A request on a resource that is served. */
export type Call = {
  readonly parts: RegistryParts
  readonly resource: Resource
  readonly request: ApiRequest
  readonly pace: Pace
  readonly written: WrittenObjects
  readonly subresource: Subresource
  /** Empty on cluster scope and for all namespaces. */
  readonly namespace: string
  /** Empty for a collection. */
  readonly name: string
}

export function keyOf(call: Call, name: string = call.name): ObjectKey {
  return { resource: call.resource.qualified, namespace: call.namespace, name }
}
