/** What happens to one object in the in-process cluster, as pure functions. */
import { randomUUID } from 'node:crypto'
import type { KubeObject, ObjectMeta } from '../api/meta.ts'
import type { Ref, Resource, Selection } from './cluster.ts'
import { equalJson } from './json.ts'
import { fieldMatcher, labelMatcher, type Matcher } from './selector.ts'

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

export function precondition(what: string, wanted: string, actual: string | undefined): string {
  return `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${actual ?? ''}`
}

/** What came in as it would arrive at a server: plain JSON, without undefined fields. */
export function toObject(value: unknown): KubeObject {
  // Whatever is not an object of the API here is a fault of the caller, which the types of the seam exclude.
  return JSON.parse(JSON.stringify(value)) as KubeObject
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

export function matcherOf(selection: Selection): Matcher {
  const { namespace } = selection
  const labels = labelMatcher(selection.labelSelector ?? '')
  const fields = fieldMatcher(selection.fieldSelector ?? '')
  return object =>
    (namespace === undefined || object.metadata.namespace === namespace) && labels(object) && fields(object)
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
