/** Server-side apply (KEP-555): the object is to have what a configuration says, whatever else it has. */
import { appliedFaults } from '../../src/api/derive/applied-faults.ts'
import { type Applied, applySteps } from '../../src/api/derive/apply-config.ts'
import { shapeOf } from '../../src/api/derive/field-shape.ts'
import { kubectl, unexplained, withLastApplied } from '../../src/api/derive/last-applied.ts'
import { storedManagers } from '../../src/api/derive/managed-fields.ts'
import { toObject } from '../../src/api/derive/object.ts'
import { typeFaults } from '../../src/api/derive/type-faults.ts'
import { prune } from '../../src/api/derive/validate.ts'
import type { AnyKind } from '../../src/api/kind.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { isRecord } from '../../src/api/record.ts'
import type { Parsed } from '../../src/codec/json.ts'
import { decodeDocument } from '../../src/codec/media.ts'
import { badRequest, conflict, isReason } from '../../src/kernel/errors.ts'
import type { Reply } from '../contract.ts'
import type { StoredObject } from '../store-contract.ts'
import { applyConflict } from './apply-conflict.ts'
import { createObject } from './create.ts'
import type { Current } from './current.ts'
import { applyMediaType, checkAddress, fieldProblems, named } from './document.ts'
import { type ApplyOptions, applyOptions } from './options.ts'
import { writerOf } from './ownership.ts'
import type { Call } from './parts.ts'
import { checkUid, checkVersion } from './precondition.ts'
import { replacement } from './update.ts'
import { change, type Decision } from './write.ts'

/** Who loses so many races between creating and changing is told so. */
const maxAttempts = 5

/** 200 when the object was there, 201 when it is created. Throws 409 with a cause for each field that others hold. */
export async function apply(call: Call, signal: AbortSignal): Promise<Reply> {
  const options = applyOptions(call.request.query)
  const applied = await readConfig(call, options)
  const served = call.resource.served
  for (let attempt = 1; ; attempt += 1) {
    const changed = await unless('NotFound', () => applyToCurrent(call, applied, options, signal))
    if (changed.done) return { type: 'object', code: 200, served, object: changed.object }
    if (call.subresource !== '') throw changed.thrown
    const created = await unless('AlreadyExists', () => createApplied(call, applied, options, signal))
    if (created.done) return { type: 'object', code: 201, served, object: created.object }
    if (attempt === maxAttempts) throw created.thrown
  }
}

type Attempt =
  | { readonly done: true; readonly object: StoredObject }
  | { readonly done: false; readonly thrown: unknown }

async function unless(
  reason: 'NotFound' | 'AlreadyExists',
  write: () => Promise<StoredObject>,
): Promise<Attempt> {
  try {
    return { done: true, object: await write() }
  } catch (thrown) {
    if (!isReason(thrown, reason)) throw thrown
    return { done: false, thrown }
  }
}

async function applyToCurrent(
  call: Call,
  applied: KubeObject,
  options: ApplyOptions,
  signal: AbortSignal,
): Promise<StoredObject> {
  const decide = async (current: Current): Promise<Decision> => {
    const outcome = await applyTo(call, current.object, applied, options)
    if (call.pace.isDue) await call.pace.rest()
    checkAddress(call, outcome.object)
    checkUid(call.resource, applied.metadata, current.object.metadata)
    checkVersion(call.resource, outcome.object.metadata, current.object.metadata)
    const ownership = () => outcome.managers
    return replacement(call, outcome.object, { current, dryRun: options.dryRun, ownership }, signal)
  }
  const { object } = await change(call, options.dryRun, decide, signal)
  return object
}

async function createApplied(
  call: Call,
  applied: KubeObject,
  options: ApplyOptions,
  signal: AbortSignal,
): Promise<StoredObject> {
  const { parts, request, resource, name } = call
  const { info, user } = request
  if (info.isResource) await parts.authorize?.({ user, info: { ...info, verb: 'create' } }, signal)
  checkAddress(call, applied)
  const { uid } = applied.metadata
  if (uid) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
    throw conflict(resource.ref, name, why)
  }
  const live = { apiVersion: resource.apiVersion, kind: resource.kind.kind, metadata: { name } }
  const { object, managers } = await applyTo(call, live, applied, options)
  if (call.pace.isDue) await call.pace.rest()
  return createObject(call, object, { dryRun: options.dryRun, ownership: () => managers }, signal)
}

/** Throws 409. */
async function applyTo(
  call: Call,
  live: KubeObject,
  applied: KubeObject,
  options: ApplyOptions,
): Promise<Applied> {
  const { pace, resource } = call
  const { kind } = resource
  const writer = writerOf(call, options.fieldManager, 'Apply')
  const managers = storedManagers(live.metadata.managedFields ?? [])
  const application = { kind, live, managers, applied, writer }
  const isKubectl = writer.name === kubectl
  let outcome = await pace.through(applySteps({ ...application, force: options.force }))
  if (outcome.type === 'conflict') {
    const { conflicts } = outcome
    if (pace.isDue) await pace.rest()
    const left = isKubectl ? unexplained(kind, live, conflicts) : conflicts
    if (left.length > 0) throw await pace.through(applyConflict(left))
    outcome = await pace.through(applySteps({ ...application, force: true }))
    if (outcome.type === 'conflict') throw await pace.through(applyConflict(outcome.conflicts))
  }
  return isKubectl ? { ...outcome, object: withLastApplied(outcome.object, applied) } : outcome
}

/** Throws 400 for what cannot be applied. */
async function readConfig(call: Call, { fieldValidation }: ApplyOptions): Promise<KubeObject> {
  const { resource, request } = call
  const { value, duplicates } = await decode(await request.body())
  request.notes.document = value
  if (call.pace.isDue) await call.pace.rest()
  if (!isRecord(value)) throw badRequest('error decoding YAML: the configuration is not an object')
  const { apiVersion, kind } = value
  if (apiVersion !== resource.apiVersion || kind !== resource.kind.kind) {
    throw badRequest(`invalid object type: ${named(apiVersion)}, Kind=${named(kind)}`)
  }
  const object = toObject(resource.kind, resource.served.version, value)
  if (object.metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil')
  checkFields(call, object)
  const problems = fieldProblems(duplicates, [])
  if (problems.length > 0 && fieldValidation === 'Strict') {
    throw badRequest(`error strict decoding YAML: ${problems.join(', ')}`)
  }
  if (fieldValidation === 'Warn') for (const problem of problems) request.warn(problem)
  return object
}

async function decode(bytes: Buffer): Promise<Parsed> {
  try {
    return await decodeDocument(bytes, applyMediaType)
  } catch (thrown) {
    throw isReason(thrown, 'BadRequest') ? badRequest(`error decoding YAML: ${thrown.message}`) : thrown
  }
}

/** Unknown fields are refused whatever the field validation: nobody could own them. */
function checkFields({ resource }: Call, applied: KubeObject): void {
  const { kind, served } = resource
  const faults = faultsOf(kind, applied)
  if (faults.length === 0) return
  const { name = '', namespace = '' } = applied.metadata
  const text = faults.length === 1 ? faults[0] : `errors:\n${faults.map(fault => `  ${fault}`).join('\n')}`
  throw badRequest(
    `failed to create typed patch object (${namespace}/${name}; ${kind.group}/${served.version}, Kind=${kind.kind}): ${text}`,
  )
}

/** Of what is of the wrong type nothing else can be said. */
function faultsOf(kind: AnyKind, applied: KubeObject): readonly string[] {
  const { unknown } = prune(kind, applied)
  if (unknown.length > 0) return unknown.map(place => `.${place}: field not declared in schema`)
  const ofTypes = typeFaults(kind, applied)
  return ofTypes.length > 0 ? ofTypes : appliedFaults(shapeOf(kind), applied)
}
