/**
 * `/scale`: an object as `autoscaling/v1 Scale`, for clients that know nothing of its kind but how many it stands for. It
 * has the uid and the version of the object, and a write changes one field of that.
 */
import { validateSchema } from '../../src/api/derive/validate.ts'
import { apiVersionOf } from '../../src/api/kind.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { ScaleKind, scaledTo, toScale } from '../../src/api/scale.ts'
import { encodeBody } from '../../src/codec/object-bytes.ts'
import { invalid } from '../../src/kernel/errors.ts'
import type { Reply } from '../contract.ts'
import type { StoredObject } from '../store-contract.ts'
import type { Current } from './current.ts'
import { checkAddress, contentTypeOf, readObject } from './document.ts'
import { get } from './get.ts'
import { type WriteOptions, writeOptions } from './options.ts'
import { ownershipOf } from './ownership.ts'
import type { Call } from './parts.ts'
import { formatOf, formats, readPatch } from './patch.ts'
import { checkUid, checkVersion } from './precondition.ts'
import { replacement } from './update.ts'
import { change, type Decision, decode } from './write.ts'

const [{ name: version }] = ScaleKind.versions
const served = { kind: ScaleKind, version }
const kindRef = { group: ScaleKind.group, kind: ScaleKind.kind }

export async function getScale(call: Call, signal: AbortSignal): Promise<Reply> {
  const { object } = await get(call, undefined, signal)
  return replyOf(call, object)
}

/** A PUT that names no version goes by the newest state, whatever the kind allows for itself. */
export async function updateScale(call: Call, signal: AbortSignal): Promise<Reply> {
  const options = writeOptions('UpdateOptions', call.request.query)
  const ofScale = scaleCall(call)
  const sent = await readObject(ofScale, options.fieldValidation)
  checkAddress(ofScale, sent)
  return changeScale(call, () => sent, options, signal)
}

/** Apply is refused: who manages what is told of the object, which a configuration of its scale does not show. */
export async function patchScale(call: Call, signal: AbortSignal): Promise<Reply> {
  const type = contentTypeOf(call.request)
  const format = formatOf(type, formats)
  const options = writeOptions('PatchOptions', call.request.query)
  const body = await call.request.body()
  const patched = await readPatch(scaleCall(call), body, { type, format }, options.fieldValidation)
  return changeScale(call, current => patched(toScale(call.resource.kind, current)), options, signal)
}

async function changeScale(
  call: Call,
  sentFor: (current: KubeObject) => KubeObject,
  { dryRun, fieldManager }: WriteOptions,
  signal: AbortSignal,
): Promise<Reply> {
  const { resource } = call
  const decide = (current: Current): Decision | Promise<Decision> => {
    const sent = sentFor(current.object)
    const faults = validateSchema(ScaleKind, sent)
    if (faults.length > 0) throw invalid(kindRef, call.name, faults)
    checkUid(resource, sent.metadata, current.object.metadata)
    checkVersion(resource, sent.metadata, current.object.metadata)
    const next = scaledTo(resource.kind, current.object, sent)
    const ownership = ownershipOf(call, fieldManager, next)
    return replacement(call, next, { current, dryRun, ownership }, signal)
  }
  const { object } = await change(call, dryRun, decide, signal)
  return replyOf(call, object)
}

function replyOf({ resource }: Call, object: StoredObject): Reply {
  const scale = toScale(resource.kind, decode(resource, object))
  return { type: 'object', code: 200, served, object: { ...object, body: encodeBody(scale) } }
}

/** The request as one for the scale, under the name of the object. */
function scaleCall(call: Call): Call {
  const apiVersion = apiVersionOf(ScaleKind)
  return {
    ...call,
    resource: { ...call.resource, kind: ScaleKind, served, apiVersion, kindRef },
  }
}
