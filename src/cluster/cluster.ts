/**
 * The seam through which controllers and agents speak to an API server, embedded or real. `client.ts` does it over HTTPS,
 * `memory.ts` without a server; `test/conformance/cluster.ts` runs on both.
 */
import { apiVersionOf, type Kind, type ObjectOfProperties } from '../api/kind.ts'
import type { KubeObject } from '../api/meta.ts'
import type { Properties } from '../api/schema.ts'

declare const typed: unique symbol

/** A resource at a version; `O` is the type of its objects. */
export type Resource<O = KubeObject> = {
  readonly group: string
  readonly version: string
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  readonly [typed]?: O
}

/** The resource of a kind at its preferred version. */
export function resource<P extends Properties>(kind: Kind<P>): Resource<ObjectOfProperties<P>> {
  return {
    group: kind.group,
    version: kind.versions[0].name,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    plural: kind.plural,
    namespaced: kind.scope === 'Namespaced',
  }
}

/** `namespace` is absent for cluster-scoped resources. */
export type Ref = { readonly namespace?: string; readonly name: string }

export type Selection = {
  /** Absent for all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

export type Listed<O> = { readonly items: readonly O[]; readonly resourceVersion: string }

export type ClusterEvent<O> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: O }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }

/** What a write may change: the object, or one subresource of it. */
export type WriteOptions = { readonly subresource?: 'status' | 'finalize' }

export type DeleteOptions = {
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
}

/** Every call throws a `StatusError` that says what the server said; `ServiceUnavailable` when it cannot be reached. */
export interface Cluster {
  /** For logs. */
  readonly name: string
  get<O>(resource: Resource<O>, ref: Ref, signal: AbortSignal): Promise<O>
  list<O>(resource: Resource<O>, selection: Selection, signal: AbortSignal): Promise<Listed<O>>
  /**
   * Changes after `resourceVersion`, with bookmarks. Ends when the server ends the stream; throws `Expired` when the
   * revision is no longer kept.
   */
  watch<O>(
    resource: Resource<O>,
    selection: Selection & { readonly resourceVersion: string },
    signal: AbortSignal,
  ): AsyncIterable<ClusterEvent<O>>
  create<O>(resource: Resource<O>, object: O, signal: AbortSignal): Promise<O>
  /** PUT: `Conflict` unless the object's resourceVersion is the current one. */
  replace<O>(resource: Resource<O>, object: O, options: WriteOptions, signal: AbortSignal): Promise<O>
  /** RFC 7386 merge patch. */
  mergePatch<O>(
    resource: Resource<O>,
    ref: Ref,
    patch: unknown,
    options: WriteOptions & { readonly signal: AbortSignal },
  ): Promise<O>
  delete(
    resource: Resource<unknown>,
    ref: Ref,
    options: DeleteOptions & { readonly signal: AbortSignal },
  ): Promise<void>
  deleteCollection(resource: Resource<unknown>, selection: Selection, signal: AbortSignal): Promise<void>
  /** Every resource that the server serves, each at its preferred version, with its verbs. */
  discover(signal: AbortSignal): Promise<readonly DiscoveredResource[]>
}

export type DiscoveredResource = Resource & { readonly verbs: readonly string[] }

/** Namespace and name in one string: `shop/web`, or the name alone on cluster scope. */
export function keyOf(ref: Ref): string {
  return ref.namespace === undefined || ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`
}

/** The inverse of `keyOf`. */
export function refOf(key: string): Ref {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** One change that an informer has seen. `before` is absent on creation, `after` on deletion. */
export type Change<O> = { readonly before: O | undefined; readonly after: O | undefined }

/** A copy of one resource, kept current by list and watch. Objects are shared: never change them. */
export interface Informer<O> {
  /** Resolves after the first list; rejects when the signal that it was started with aborts before. */
  readonly synced: Promise<void>
  hasSynced(): boolean
  get(ref: Ref): O | undefined
  list(namespace?: string): readonly O[]
  /** Called after the copy has changed; changes that happened before are delivered as creations, in a later turn. */
  onChange(listener: (change: Change<O>) => void): void
  /** Takes in what a write has answered before the watch tells of it, so that nobody acts twice on what was there before. */
  note(object: O): void
}
