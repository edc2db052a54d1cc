import { metadataWarnings, validateMetadata } from '../../src/api/derive/metadata.ts'
import { applyDefaults, validateSchema } from '../../src/api/derive/validate.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { invalid } from '../../src/kernel/errors.ts'
import type { FieldError } from '../../src/kernel/field-error.ts'
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
export async function admitted(call: Call, write: Write, signal: AbortSignal): Promise<KubeObject> {
  const { parts, resource, pace, subresource } = call
  const { kind } = resource
  const { old, replaced, proven, dryRun, ownership } = write
  if (pace.isDue) await pace.rest()
  checkDepth(kind, write.object)
  const defaulted = applyDefaults(kind, write.object, proven)
  refuse(resource, defaulted, old, validateSchema(kind, defaulted, proven))
  if (pace.isDue) await pace.rest()
  const owned = withManagers(defaulted, ownership(defaulted, old))
  if (pace.isDue) await pace.rest()
  const prepared = subresource === '' ? kind.prepare(owned, old) : owned
  const attributes = (object: KubeObject) =>
    attributesOf(call, old === undefined ? 'CREATE' : 'UPDATE', dryRun, {
      name: object.metadata.name,
      object,
      ...(replaced === undefined ? {} : { oldObject: replaced }),
    })
  const first = attributes(prepared)
  const mutating = parts.admission.mutate(first, signal)
  const mutated = (mutating instanceof Promise ? await mutating : mutating) ?? prepared
  const object = old === undefined ? mutated : withGeneration(kind, mutated, old)
  refuseInvalid(resource, object, write)
  const validating = parts.admission.validate(object === prepared ? first : attributes(object), signal)
  if (validating instanceof Promise) await validating
  warn(call, write, object)
  return object
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
