import { metadataWarnings, validateMetadata } from '../../src/api/derive/metadata.ts'
import { applyDefaults, validateSchema } from '../../src/api/derive/validate.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { invalid } from '../../src/kernel/errors.ts'
import type { FieldError } from '../../src/kernel/field-error.ts'
import { andThen } from '../../src/kernel/when-settled.ts'
import type { AdmissionAttributes } from '../contract.ts'
import { checkDepth } from './depth.ts'
import { type Ownership, withManagers } from './ownership.ts'
import type { Call, Resource } from './parts.ts'
import { duplicateOwnerWarning, withGeneration } from './strategy.ts'
import { attributesOf } from './write.ts'

export type Write = {
  /** The object as strategy.ts made it. */
  readonly object: KubeObject
  /** What it replaces, as it is stored; absent on create. */
  readonly old?: KubeObject
  /** The same with its resourceVersion, for admission. */
  readonly replaced?: KubeObject
  /** The old object where it is known to be good: what is the very same in the new one is, too. */
  readonly proven?: KubeObject | undefined
  /** Where the client named owners. */
  readonly sent: KubeObject
  readonly dryRun: boolean
  /** What admission and the kind add afterwards is no client's. */
  readonly ownership: Ownership
}

/**
 * The object as it will be stored: defaulted, prepared by its kind, admitted and valid. Throws 422 with every fault,
 * and what admission throws. What the schema cannot say is asked only of objects that the schema accepts.
 */
export function admitted(call: Call, write: Write, signal: AbortSignal): KubeObject | Promise<KubeObject> {
  const { resource, pace } = call
  const { old, ownership } = write
  return pace.goOn(() => {
    const defaulted = defaultedOf(resource, write)
    return pace.goOn(() => {
      const owned = withManagers(defaulted, ownership(defaulted, old))
      return pace.goOn(() => throughAdmission(call, write, owned, signal))
    })
  })
}

function defaultedOf(resource: Resource, { object, old, proven }: Write): KubeObject {
  const { kind } = resource
  checkDepth(kind, object)
  const defaulted = applyDefaults(kind, object, proven)
  refuse(resource, defaulted, old, validateSchema(kind, defaulted, proven))
  return defaulted
}

function throughAdmission(
  call: Call,
  write: Write,
  owned: KubeObject,
  signal: AbortSignal,
): KubeObject | Promise<KubeObject> {
  const { parts, resource, subresource } = call
  const { kind } = resource
  const { old } = write
  const prepared = subresource === '' ? kind.prepare(owned, old) : owned
  const first = attributesFor(call, write, prepared)
  const validated = (mutated: KubeObject | undefined): KubeObject | Promise<KubeObject> => {
    const admittedOne = mutated ?? prepared
    const object = old === undefined ? admittedOne : withGeneration(kind, admittedOne, old)
    refuseInvalid(resource, object, write)
    const attributes = object === prepared ? first : attributesFor(call, write, object)
    const validating = parts.admission.validate(attributes, signal)
    const told = (): KubeObject => {
      warn(call, write, object)
      return object
    }
    return andThen(validating, told)
  }
  const mutating = parts.admission.mutate(first, signal)
  return andThen(mutating, validated)
}

function attributesFor(
  call: Call,
  { old, replaced, dryRun }: Write,
  object: KubeObject,
): AdmissionAttributes {
  const { name } = object.metadata
  return attributesOf(call, old === undefined ? 'CREATE' : 'UPDATE', dryRun, {
    name,
    object,
    ...(replaced === undefined ? {} : { oldObject: replaced }),
  })
}

function refuseInvalid(resource: Resource, object: KubeObject, { old, proven }: Write): void {
  const ofMetadata = metadataErrors(resource, object, old, proven !== undefined)
  const ofKind = resource.kind.validate(object, old)
  if (ofMetadata.length + ofKind.length === 0) return
  throw invalid(resource.kindRef, object.metadata.name, [...ofMetadata, ...ofKind])
}

function refuse(
  resource: Resource,
  object: KubeObject,
  old: KubeObject | undefined,
  structural: readonly FieldError[],
): void {
  if (structural.length === 0) return
  const { name = '' } = object.metadata
  throw invalid(resource.kindRef, name, [...metadataErrors(resource, object, old), ...structural])
}

/** kube-apiserver checks the metadata of an update twice, and clients get to see both. */
function metadataErrors(
  { kind }: Resource,
  object: KubeObject,
  old: KubeObject | undefined,
  isOldValid = false,
): readonly FieldError[] {
  const errors = validateMetadata(kind, object, old, isOldValid)
  return old === undefined || errors.length === 0 ? errors : [...errors, ...errors]
}

function warn({ request, resource }: Call, { sent, old }: Write, object: KubeObject): void {
  const owners = duplicateOwnerWarning(sent.metadata)
  if (owners !== undefined) request.warn(owners)
  for (const text of metadataWarnings(resource.kind, object)) request.warn(text)
  for (const text of resource.kind.warn(object, old)) request.warn(text)
}
