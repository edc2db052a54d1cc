/**
 * What the server makes of an object before it is stored: system fields, status, generation, and one form for
 * everything that may be said in two ways. All functions are pure.
 */
import type { AnyKind } from '../../src/api/kind.ts'
import {
  type KubeObject,
  type ManagedFieldsEntry,
  type ObjectMeta,
  type OwnerReference,
  withoutVersion,
} from '../../src/api/meta.ts'
import { entryOf, type JsonRecord, type Mutable, setEntry } from '../../src/api/record.ts'
import { equalJson } from '../../src/cluster/json.ts'
import { toTime } from '../../src/kernel/clock.ts'
import type { Subresource } from './parts.ts'

/** What a client may say in metadata; the rest is the server's. Absent, null and empty are one. */
function ownMetadata(sent: ObjectMeta, namespace: string | undefined): Mutable<ObjectMeta> {
  const { name = '' } = sent
  const metadata: Mutable<ObjectMeta> = { name }
  if (sent.generateName) metadata.generateName = sent.generateName
  if (namespace) metadata.namespace = namespace
  if (sent.uid) metadata.uid = sent.uid
  return metadata
}

function addAttachments(metadata: Mutable<ObjectMeta>, sent: ObjectMeta): ObjectMeta {
  const { labels = {}, annotations = {}, finalizers = [] } = sent
  if (Object.keys(labels).length > 0) metadata.labels = labels
  if (Object.keys(annotations).length > 0) metadata.annotations = annotations
  const owners = distinctOwners(sent.ownerReferences ?? [])
  if (owners.length > 0) metadata.ownerReferences = owners
  if (finalizers.length > 0) metadata.finalizers = finalizers
  return metadata
}

function distinctOwners(owners: readonly OwnerReference[]): readonly OwnerReference[] {
  if (owners.length < 2) return owners
  return [...new Map(owners.map(owner => [ownerText(owner), owner] as const).reverse()).values()].reverse()
}

/** The same for the same owner. */
function ownerText({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string {
  return JSON.stringify([apiVersion, kind, name, uid, controller ?? null, blockOwnerDeletion ?? null])
}

/** A sentence for the client when owners were named twice. */
export function duplicateOwnerWarning({ ownerReferences }: ObjectMeta): string | undefined {
  const owners = ownerReferences ?? []
  if (owners.length < 2) return undefined
  const distinct = new Set(distinctOwners(owners))
  if (distinct.size === owners.length) return undefined
  const twice = owners.filter(owner => !distinct.has(owner)).map(owner => owner.uid)
  return `metadata.ownerReferences: duplicate entries were removed; uid(s) named more than once: ${[...new Set(twice)].join(', ')}`
}

export type Birth = { readonly uid: string; readonly namespace: string; readonly nowMs: number }

/** The object as it is created: with a uid and a time, and without what only the server may say. */
export function forCreate(kind: AnyKind, sent: KubeObject, birth: Birth): KubeObject {
  const metadata = ownMetadata(sent.metadata, birth.namespace)
  metadata.uid = birth.uid
  if (kind.generation) metadata.generation = 1
  metadata.creationTimestamp = toTime(birth.nowMs)
  const { status, ...rest } = sent
  const kept = kind.status === undefined && status !== undefined ? { ...rest, status } : rest
  return {
    ...kept,
    apiVersion: sent.apiVersion,
    kind: sent.kind,
    metadata: addAttachments(metadata, sent.metadata),
  }
}

/** What a write through an endpoint makes of the old object: only that endpoint's part changes. */
export function forUpdate(
  kind: AnyKind,
  subresource: Subresource,
  sent: KubeObject,
  old: KubeObject,
): KubeObject {
  switch (subresource) {
    case 'status':
      return withStatus(withMetadataOf(kind, sent, old), sent.status)
    case 'finalize':
      return kind.finalize?.apply(withoutVersion(old), sent) ?? withoutVersion(old)
    case 'scale':
      return withoutVersion(sent)
    case '':
      return kind.status === undefined
        ? { ...sent, metadata: metadataForUpdate(sent.metadata, old.metadata) }
        : withStatus({ ...sent, metadata: metadataForUpdate(sent.metadata, old.metadata) }, old.status)
  }
}

/** The status comes last, wherever it was. */
function withStatus(object: KubeObject, status: unknown): KubeObject {
  if (status === undefined && object.status === undefined) return object
  const { apiVersion, kind, metadata } = object
  const next: Mutable<KubeObject> = { apiVersion, kind, metadata }
  for (const name in object) if (name !== 'status') setEntry(next, name, object[name])
  if (status !== undefined) next.status = status
  return next
}

/** The old object, with the metadata that `/status` of its kind may change. */
function withMetadataOf(kind: AnyKind, sent: KubeObject, old: KubeObject): KubeObject {
  const before = withoutVersion(old)
  if (kind.status?.withMetadata !== true) return before
  const { labels, annotations, finalizers } = sent.metadata
  const { labels: _l, annotations: _a, finalizers: _f, ...kept } = before.metadata
  const said = {
    ...kept,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(finalizers === undefined ? {} : { finalizers }),
  }
  return { ...before, metadata: metadataForUpdate(said, before.metadata) }
}

/** A uid that differs stays, and a deletion that nobody asked for, for validation to refuse. */
function metadataForUpdate(sent: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const metadata = ownMetadata(sent, old.namespace)
  if (metadata.uid === undefined && old.uid !== undefined) metadata.uid = old.uid
  if (old.generation !== undefined) metadata.generation = old.generation
  if (old.creationTimestamp !== undefined) metadata.creationTimestamp = old.creationTimestamp
  const deletionTimestamp = old.deletionTimestamp ?? sent.deletionTimestamp
  if (deletionTimestamp) metadata.deletionTimestamp = deletionTimestamp
  const seconds = sent.deletionGracePeriodSeconds ?? old.deletionGracePeriodSeconds
  if (seconds !== undefined) metadata.deletionGracePeriodSeconds = seconds
  return addAttachments(metadata, sent)
}

/** Counts up when anything but metadata has changed, and but status where that has its own endpoint. */
export function withGeneration(kind: AnyKind, next: KubeObject, old: KubeObject): KubeObject {
  if (!kind.generation || sameSpec(kind, next, old)) return next
  return { ...next, metadata: { ...next.metadata, generation: (old.metadata.generation ?? 0) + 1 } }
}

function sameSpec(kind: AnyKind, a: KubeObject, b: KubeObject): boolean {
  return equalBeside(kind.status === undefined ? unspecified : unspecifiedWithStatus, a, b)
}

const unspecified: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])
const unspecifiedWithStatus: ReadonlySet<string> = new Set([...unspecified, 'status'])

/** Whether nothing changes but, perhaps, the times of managers. Both without resourceVersion. */
export function isUnchanged(next: KubeObject, old: KubeObject): boolean {
  // Most writes change something else than who manages what, which is the longest to compare.
  return (
    equalBeside(metadataAlone, next, old) &&
    equalBeside(managersAlone, next.metadata, old.metadata) &&
    areSameManagers(next.metadata.managedFields ?? [], old.metadata.managedFields ?? [])
  )
}

const metadataAlone: ReadonlySet<string> = new Set(['metadata'])
const managersAlone: ReadonlySet<string> = new Set(['managedFields'])
const timeAlone: ReadonlySet<string> = new Set(['time'])

function areSameManagers(next: readonly ManagedFieldsEntry[], old: readonly ManagedFieldsEntry[]): boolean {
  return next.length === old.length && next.every((entry, at) => equalBeside(timeAlone, entry, old[at] ?? {}))
}

/** Whether two records have the same fields but for some. */
function equalBeside(left: ReadonlySet<string>, a: JsonRecord, b: JsonRecord): boolean {
  for (const name in a) if (!(left.has(name) || equalJson(a[name], entryOf(b, name)))) return false
  for (const name in b) {
    if (!left.has(name) && b[name] !== undefined && entryOf(a, name) === undefined) return false
  }
  return true
}

/** Whether two states are the same, whatever the order of their keys. Both without resourceVersion. */
export function sameState(a: KubeObject, b: KubeObject): boolean {
  return equalJson(a, b)
}
