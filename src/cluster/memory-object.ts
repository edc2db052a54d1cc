/** What happens to one object in the in-process cluster, as pure functions. */
import { randomUUID } from 'node:crypto'
import { type AnyKind, apiVersionOf } from '../api/kind.ts'
import type { KubeObject, ObjectMeta } from '../api/meta.ts'
import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector } from '../api/selector.ts'
import { toTime } from '../kernel/clock.ts'
import { conflict } from '../kernel/errors.ts'
import { fromJson } from '../kernel/json.ts'
import type { DeleteOptions, DiscoveredResource, Ref, Resource, Selection } from './cluster.ts'
import { equalJson, isJsonObject } from './json.ts'

export type Past = {
  readonly revision: number
  readonly type: 'PUT' | 'DELETE'
  readonly resource: string
  readonly object: KubeObject
  readonly previous: KubeObject | undefined
}

export function storeKey(resource: Resource<unknown>): string {
  return `${resource.plural}.${resource.group}`
}

export function errorRef(resource: Resource<unknown>): { group: string; resource: string } {
  return { group: resource.group, resource: resource.plural }
}

export function refOf(resource: Resource<unknown>, metadata: Ref): Ref {
  const namespace = resource.namespaced ? metadata.namespace : undefined
  return namespace ? { namespace, name: metadata.name } : { name: metadata.name }
}

export function generated(metadata: ObjectMeta): string {
  const base = metadata.generateName ?? ''
  return base === '' ? '' : `${base}${randomUUID().slice(0, 5)}`
}

function precondition(what: string, wanted: string, actual: string | undefined): string {
  return `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${actual ?? ''}`
}

/** Throws `Conflict` when the object is not the one that is to be deleted. */
export function checkPreconditions(
  resource: Resource<unknown>,
  { metadata }: KubeObject,
  options: DeleteOptions,
): void {
  const { name, resourceVersion, uid } = metadata
  if (options.uid !== undefined && options.uid !== uid) {
    throw conflict(errorRef(resource), name, precondition('UID', options.uid, uid))
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const why = precondition('ResourceVersion', options.resourceVersion, resourceVersion)
    throw conflict(errorRef(resource), name, why)
  }
}

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

export function discovered(kind: AnyKind): DiscoveredResource {
  return {
    group: kind.group,
    version: kind.versions[0].name,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    plural: kind.plural,
    namespaced: kind.scope === 'Namespaced',
    verbs: allVerbs,
  }
}

/** What came in as it would arrive at a server: plain JSON, without undefined fields. */
export function toObject(value: unknown): KubeObject {
  // Whatever is not an object of the API here is a fault of the caller, which the types of the seam exclude.
  return fromJson(JSON.stringify(value)) as KubeObject
}

/** Objects are shared with every reader: a reader that changes one is told by a throw. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) frozen(part)
  }
  return value
}

/** The stored object at the version that was asked for. */
export function shownAs<O>(resource: Resource<O>, object: KubeObject): O {
  const shown =
    object.apiVersion === resource.apiVersion
      ? object
      : frozen({ ...object, apiVersion: resource.apiVersion })
  // Only objects that came in as this resource are kept under its key.
  return shown as O
}

/** A new object is nobody's but the server's to date, to name for good and to end. */
export function created(
  sent: KubeObject,
  { hasStatus, nowMs }: { readonly hasStatus: boolean; readonly nowMs: number },
): KubeObject {
  const { status, ...body } = sent
  const { deletionTimestamp: _deletionTimestamp, deletionGracePeriodSeconds: _grace, ...rest } = sent.metadata
  const metadata = { ...rest, uid: randomUUID(), generation: 1, creationTimestamp: toTime(nowMs) }
  return { ...body, ...(hasStatus || status === undefined ? {} : { status }), metadata }
}

/** The object while its finalizers are waited for. */
export function terminating(current: KubeObject, nowMs: number): KubeObject {
  const metadata = {
    ...current.metadata,
    deletionTimestamp: toTime(nowMs),
    deletionGracePeriodSeconds: 0,
    generation: (current.metadata.generation ?? 1) + 1,
  }
  return { ...current, metadata }
}

/** The main endpoint takes everything but what the server keeps, and the status where that has its own endpoint. */
export function updated(current: KubeObject, sent: KubeObject, hasStatus: boolean): KubeObject {
  const kept = current.metadata
  const status = hasStatus ? current.status : sent.status
  const { status: _status, ...body } = sent
  const next: KubeObject = {
    ...body,
    ...(status === undefined ? {} : { status }),
    metadata: {
      ...sent.metadata,
      ...copied(kept, ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds']),
      ...copied(kept, ['generation', 'resourceVersion']),
    },
  }
  const { metadata: _before, status: _statusBefore, ...specBefore } = current
  const { metadata, status: _statusAfter, ...specAfter } = next
  if (equalJson(specBefore, specAfter)) return next
  return { ...next, metadata: { ...metadata, generation: (kept.generation ?? 1) + 1 } }
}

function copied(from: ObjectMeta, fields: readonly (keyof ObjectMeta)[]): Partial<ObjectMeta> {
  return Object.fromEntries(
    fields.map(field => [field, from[field]]).filter(([, value]) => value !== undefined),
  )
}

export type Matcher = (object: KubeObject) => boolean

/** Any field may be selected by; servers allow only those that a kind declares. Throws `BadRequest`. */
export function matcherOf({ namespace, labelSelector = '', fieldSelector = '' }: Selection): Matcher {
  const labels = parseLabelSelector(labelSelector)
  const fields = parseFieldSelector(fieldSelector)
  return object =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    matchesLabels(labels, object.metadata.labels ?? {}) &&
    matchesFields(fields, field => fieldAt(object, field))
}

function fieldAt(object: KubeObject, path: string): string {
  let value: unknown = object
  for (const step of path.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return ''
    value = value[step]
  }
  return value === undefined || value === null ? '' : String(value)
}

/** How a change looks through a selector: objects that stop matching are deleted, with their last matching state. */
export function eventOf(
  past: Past,
  matches: Matcher,
): { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject } | undefined {
  const { object, previous } = past
  const before = previous !== undefined && matches(previous)
  if (past.type === 'DELETE') return before || matches(object) ? { type: 'DELETED', object } : undefined
  if (matches(object)) return { type: before ? 'MODIFIED' : 'ADDED', object }
  if (!before) return undefined
  const metadata = { ...previous.metadata, resourceVersion: String(past.revision) }
  return { type: 'DELETED', object: frozen({ ...previous, metadata }) }
}
