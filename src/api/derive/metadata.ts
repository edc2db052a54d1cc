/** The rules of `metadata`, with the texts of k8s.io/apimachinery's `ValidateObjectMeta`. */
import {
  type FieldError,
  forbiddenField,
  immutable,
  invalidValue,
  required,
  tooLong,
} from '../../kernel/field-error.ts'
import type { AnyKind, NameRule } from '../kind.ts'
import type { KubeObject, ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../meta.ts'
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelKeyErrors,
  labelValueErrors,
  pathSegmentErrors,
} from '../names.ts'
import { byText } from '../order.ts'
import { maxFaults } from './visit.ts'

/** Bytes of all keys and values of an object's annotations together. */
const maxAnnotationBytes = 256 * 1024

type NameCheck = (value: string, prefix: boolean) => readonly string[]

/** A generateName may end in a dash, because something follows it. */
const masked =
  (check: (value: string) => readonly string[]): NameCheck =>
  (value, prefix) =>
    check(prefix ? value.replace(/-$/, 'a') : value)

const nameChecks: Readonly<Record<NameRule, NameCheck>> = {
  dns1123Subdomain: masked(dns1123SubdomainErrors),
  dns1123Label: masked(dns1123LabelErrors),
  dns1035Label: masked(dns1035LabelErrors),
  pathSegment: pathSegmentErrors,
}

const none: Partial<ObjectMeta> = {}

/**
 * `old` is absent on create. Names are to be generated before. Where the old object is known to be valid, what is the very
 * same in it is not looked at.
 */
export function validateMetadata(
  kind: AnyKind,
  object: KubeObject,
  old?: KubeObject,
  isOldValid = false,
): readonly FieldError[] {
  const meta = object.metadata
  const valid = (isOldValid ? old?.metadata : undefined) ?? none
  return joined(
    old === undefined ? createErrors(kind, meta) : updateErrors(meta, old.metadata),
    meta.labels === valid.labels ? noErrors : labelErrors(meta.labels),
    meta.annotations === valid.annotations ? noErrors : annotationErrors(meta.annotations),
    meta.ownerReferences === valid.ownerReferences ? noErrors : ownerErrors(meta.ownerReferences),
    meta.finalizers === valid.finalizers ? noErrors : finalizerErrors(kind, meta.finalizers ?? []),
    managedFieldsErrors(meta.managedFields ?? [], valid.managedFields ?? []),
  )
}

const noErrors: readonly FieldError[] = []

/** Mostly there are none, and nothing is made for them. */
function joined(...parts: readonly (readonly FieldError[])[]): readonly FieldError[] {
  for (const part of parts) if (part.length > 0) return parts.flat()
  return noErrors
}

/** What the client is told about metadata that is legal and unwise. */
export function metadataWarnings(kind: AnyKind, object: KubeObject): readonly string[] {
  if (kind.plainFinalizers !== 'warned') return []
  return (object.metadata.finalizers ?? [])
    .filter(isPlainFinalizer)
    .slice(0, maxFaults)
    .map(
      f =>
        `metadata.finalizers: ${JSON.stringify(f)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    )
}

const orphan = 'orphan'
const foreground = 'foregroundDeletion'
const wellKnownFinalizers = new Set([orphan, foreground, 'kubernetes'])

function createErrors(kind: AnyKind, meta: ObjectMeta): readonly FieldError[] {
  // A review is answered and forgotten; it needs no name.
  if (kind.storage === 'review') return []
  const check = nameChecks[kind.nameRule]
  const prefix = meta.generateName ?? ''
  return [
    ...(prefix === '' ? [] : check(prefix, true)).map(e => invalidValue('metadata.generateName', prefix, e)),
    ...requiredNameErrors(meta.name, check),
    ...namespaceErrors(kind, meta.namespace ?? ''),
  ]
}

function requiredNameErrors(name: string | undefined, check: NameCheck): readonly FieldError[] {
  if (name === undefined || name === '') {
    return [required('metadata.name', 'name or generateName is required')]
  }
  return check(name, false).map(e => invalidValue('metadata.name', name, e))
}

function namespaceErrors(kind: AnyKind, namespace: string): readonly FieldError[] {
  if (kind.scope === 'Cluster') {
    return namespace === '' ? [] : [forbiddenField('metadata.namespace', 'not allowed on this type')]
  }
  if (namespace === '') return [required('metadata.namespace', '')]
  return dns1123LabelErrors(namespace).map(e => invalidValue('metadata.namespace', namespace, e))
}

const fixed = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

function updateErrors(meta: ObjectMeta, old: ObjectMeta): readonly FieldError[] {
  const added =
    old.deletionTimestamp === undefined
      ? noErrors
      : addedFinalizers(meta.finalizers ?? [], old.finalizers ?? [])
  const changed = firstFaults(fixed, f =>
    (meta[f] ?? '') === (old[f] ?? '') ? noErrors : [immutable(`metadata.${f}`, meta[f])],
  )
  return joined(added, changed)
}

function addedFinalizers(finalizers: readonly string[], old: readonly string[]): readonly FieldError[] {
  const known = new Set(old)
  const added = [...new Set(finalizers)].filter(f => !known.has(f)).toSorted(byText)
  if (added.length === 0) return []
  const list = `[]string{${added.map(f => JSON.stringify(f)).join(', ')}}`
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`
  return [forbiddenField('metadata.finalizers', detail)]
}

/** What is wrong with some of many; whoever sends thousands of faults needs to see only the first. */
function firstFaults<T>(
  items: readonly T[],
  faultsOf: (item: T, index: number) => readonly FieldError[],
): readonly FieldError[] {
  let found: FieldError[] | undefined
  for (let index = 0; index < items.length; index++) {
    // There is an item below the length.
    const faults = faultsOf(items[index] as T, index)
    if (faults.length === 0) continue
    found = found === undefined ? [...faults] : [...found, ...faults]
    if (found.length >= maxFaults) return found.slice(0, maxFaults)
  }
  return found ?? noErrors
}

export function labelErrors(
  labels: Readonly<Record<string, string>> = {},
  field = 'metadata.labels',
): readonly FieldError[] {
  return firstFaults(Object.keys(labels), key => {
    const value = labels[key] ?? ''
    const [ofKey, ofValue] = [labelKeyErrors(key), labelValueErrors(value)]
    if (ofKey.length + ofValue.length === 0) return noErrors
    return [
      ...ofKey.map(e => invalidValue(field, key, e)),
      ...ofValue.map(e => invalidValue(field, value, e)),
    ]
  })
}

function annotationErrors(annotations: Readonly<Record<string, string>> = {}): readonly FieldError[] {
  const field = 'metadata.annotations'
  const keys = Object.keys(annotations)
  const bytes = keys.reduce(
    (sum, key) => sum + Buffer.byteLength(key) + Buffer.byteLength(annotations[key] ?? ''),
    0,
  )
  return joined(
    firstFaults(keys, key => {
      const errors = labelKeyErrors(key.toLowerCase())
      return errors.length === 0 ? noErrors : errors.map(e => invalidValue(field, key, e))
    }),
    bytes > maxAnnotationBytes
      ? [tooLong(field, `may not be more than ${maxAnnotationBytes} bytes`)]
      : noErrors,
  )
}

function ownerErrors(owners: readonly OwnerReference[] = []): readonly FieldError[] {
  const field = 'metadata.ownerReferences'
  const controllers = owners.filter(o => o.controller === true)
  const [first] = controllers
  return [
    ...firstFaults(owners, ownerReferenceErrors),
    // One fault says it: each shows all owners.
    ...controllers
      .slice(1, 2)
      .map(next =>
        invalidValue(
          field,
          owners,
          `Only one reference can have Controller set to true. Found "true" in references for ${first?.kind}/${first?.name} and ${next.kind}/${next.name}`,
        ),
      ),
  ]
}

/** A version, behind a slash where there is a group. */
const groupVersionPattern = /^(?:[^/]*\/)?[^/]+$/

function ownerReferenceErrors(owner: Partial<OwnerReference>): readonly FieldError[] {
  const field = 'metadata.ownerReferences'
  const { apiVersion = '', kind = '', name = '', uid = '' } = owner
  const faults = [
    ...(groupVersionPattern.test(apiVersion)
      ? []
      : [invalidValue(`${field}.apiVersion`, apiVersion, 'version must not be empty')]),
    ...Object.entries({ kind, name, uid })
      .filter(([, value]) => value === '')
      .map(([part, value]) => invalidValue(`${field}.${part}`, value, 'must not be empty')),
  ]
  // Events come and go by the thousand; what they owned would go with them.
  const banned = apiVersion === 'v1' && kind === 'Event'
  return banned
    ? [...faults, invalidValue(field, owner, '/v1, Kind=Event is disallowed from being an owner')]
    : faults
}

function isPlainFinalizer(name: string): boolean {
  return !name.includes('/') && !wellKnownFinalizers.has(name)
}

/** Of a name without a domain that Kubernetes does not know. */
export function plainFinalizerErrors(field: string, name: string): readonly FieldError[] {
  const why = 'name is neither a standard finalizer name nor is it fully qualified'
  return isPlainFinalizer(name) ? [invalidValue(field, name, why)] : []
}

function finalizerErrors({ plainFinalizers }: AnyKind, finalizers: readonly string[]): readonly FieldError[] {
  const field = 'metadata.finalizers'
  const both = finalizers.includes(orphan) && finalizers.includes(foreground)
  return [
    ...firstFaults(finalizers, (f, i) => [
      ...labelKeyErrors(f).map(e => invalidValue(field, f, e)),
      ...(plainFinalizers === 'refused' ? plainFinalizerErrors(`${field}[${i}]`, f) : []),
    ]),
    ...(both
      ? [invalidValue(field, finalizers, `finalizer ${orphan} and ${foreground} cannot be both set`)]
      : []),
  ]
}

/** Among more of them than this nobody looks for one that has moved. */
const maxSearched = 32

/** The entries that are `valid` are not looked at. */
function managedFieldsErrors(
  entries: readonly ManagedFieldsEntry[],
  valid: readonly ManagedFieldsEntry[],
): readonly FieldError[] {
  return firstFaults(entries, (entry, i) => {
    if (valid[i] === entry || (valid.length <= maxSearched && valid.includes(entry))) return noErrors
    const field = `metadata.managedFields[${i}]`
    const { operation = '', fieldsType = '', manager = '' } = entry
    return joined(
      operation === 'Apply' || operation === 'Update'
        ? noErrors
        : [invalidValue(`${field}.operation`, operation, 'must be `Apply` or `Update`')],
      fieldsType === '' || fieldsType === 'FieldsV1'
        ? noErrors
        : [invalidValue(`${field}.fieldsType`, fieldsType, 'must be `FieldsV1`')],
      Buffer.byteLength(manager) > 128
        ? [tooLong(`${field}.manager`, 'may not be more than 128 bytes')]
        : noErrors,
    )
  })
}
