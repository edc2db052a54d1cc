import { toObject } from '../../src/api/derive/object.ts'
import { prune } from '../../src/api/derive/validate.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { objectMetaSchema } from '../../src/api/meta-schema.ts'
import { isRecord, type JsonRecord } from '../../src/api/record.ts'
import type { JsonSchema } from '../../src/api/schema.ts'
import type { Parsed } from '../../src/codec/json.ts'
import { decodeDocument, jsonPatchMediaType } from '../../src/codec/media.ts'
import {
  badRequest,
  invalid,
  isReason,
  type StatusError,
  unsupportedMediaType,
} from '../../src/kernel/errors.ts'
import { invalidValue } from '../../src/kernel/field-error.ts'
import { andThen, unlessFailed } from '../../src/kernel/when-settled.ts'
import type { Reply } from '../contract.ts'
import { apply } from './apply.ts'
import type { Current } from './current.ts'
import { applyMediaType, checkAddress, checkType, contentTypeOf, fieldProblems } from './document.ts'
import { applyJsonPatch, jsonPatch, jsonPatchProblems, unshared } from './json-patch.ts'
import { mergePatch } from './merge-patch.ts'
import { type FieldValidation, writeOptions } from './options.ts'
import { ownershipOf } from './ownership.ts'
import type { Call, Resource } from './parts.ts'
import { checkPatched } from './precondition.ts'
import { strategicMergePatch } from './strategic-merge-patch.ts'
import { replacement } from './update.ts'
import { change, type Decision } from './write.ts'

/** From the current object, which it does not change, to the patched document. */
type Patch = (current: KubeObject) => unknown

/** Reads a patch of one media type. Throws 400 for what is none. */
type Format = (document: unknown, resource: Resource) => Patch

const maxQuotedLength = 1_024

function patchFormats({ kind }: Resource): ReadonlyMap<string, Format> {
  return kind.strategicMergePatch ? formatsOfBuiltIns : formats
}

/** Of documents whose lists have no merge keys. */
export const formats: ReadonlyMap<string, Format> = new Map([
  [jsonPatchMediaType, toJsonPatch],
  ['application/merge-patch+json', toMergePatch],
])

const formatsOfBuiltIns: ReadonlyMap<string, Format> = new Map([
  ...formats,
  ['application/strategic-merge-patch+json', toStrategicMergePatch],
])

/** Changes the newest state of an object, or the part of it that the subresource is for. */
export async function patch(call: Call, signal: AbortSignal): Promise<Reply> {
  const { resource, request } = call
  const type = contentTypeOf(request)
  if (type === applyMediaType) return apply(call, signal)
  const format = formatOf(type, patchFormats(resource), othersBeside)
  const options = writeOptions('PatchOptions', request.query)
  const reading = readPatch(call, await request.body(), { type, format }, options.fieldValidation)
  const patched = reading instanceof Promise ? await reading : reading
  const decide = (current: Current): Decision | Promise<Decision> => {
    const sent = patched(current.document, current.isProven ? current.document : undefined)
    checkPatched(resource, sent.metadata, current.object.metadata)
    const ownership = ownershipOf(call, options.fieldManager, sent)
    return replacement(call, sent, { current, dryRun: options.dryRun, ownership }, signal)
  }
  const { object } = await change(call, options.dryRun, decide, signal)
  return { type: 'object', code: 200, served: resource.served, object }
}

const othersBeside = [applyMediaType]

/** How the patch of a request is read. Throws 415 for other media types, which comes before all other faults. */
export function formatOf(
  type: string,
  accepted: ReadonlyMap<string, Format>,
  others: readonly string[] = [],
): Format {
  const format = accepted.get(type)
  if (format === undefined) throw unsupportedMediaType([...accepted.keys(), ...others])
  return format
}

/**
 * Reads the patch of a request: from the current document, which it does not change, to the one that is to be in its
 * place. Throws 400 for what is no patch; what it answers throws 422 for a document that it does not fit.
 */
export function readPatch(
  call: Call,
  body: Buffer,
  { type, format }: { readonly type: string; readonly format: Format },
  validation: FieldValidation,
): Patching | Promise<Patching> {
  const read = ({ value, duplicates }: Parsed): Patching | Promise<Patching> => {
    call.request.notes.document = value
    return call.pace.goOn(() => {
      const patched = format(value, call.resource)
      const isJsonPatch = type === jsonPatchMediaType
      const problems = isJsonPatch ? jsonPatchProblems(value, duplicates) : fieldProblems(duplicates, [])
      return (current, proven) => toSent(call, patched(current), { ofPatch: problems, validation, proven })
    })
  }
  const decoding = decodePatch(body, type)
  return andThen(decoding, read)
}

/** From the current document to the one that is to be in its place; what of it is `proven` needs no second look. */
type Patching = (current: KubeObject, proven?: KubeObject) => KubeObject

function decodePatch(bytes: Buffer, type: string): Parsed | Promise<Parsed> {
  return unlessFailed(
    () => decodeDocument(bytes, type),
    thrown => {
      throw isReason(thrown, 'BadRequest') ? badRequest('invalid JSON patch') : thrown
    },
  )
}

function toJsonPatch(document: unknown): Patch {
  const operations = jsonPatch(document)
  return current => applyJsonPatch(unshared(current), operations)
}

function toMergePatch(document: unknown): Patch {
  const changes = toChanges(document)
  return current => mergePatch(current, changes)
}

function toStrategicMergePatch(document: unknown, { kind }: Resource): Patch {
  const changes = toChanges(document)
  const schema: JsonSchema = {
    ...kind.schema,
    properties: { ...kind.schema.properties, metadata: objectMetaSchema.json },
  }
  return current => strategicMergePatch(current, changes, schema)
}

function toChanges(document: unknown): JsonRecord {
  if (isRecord(document)) return document
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${sortOf(document)} into Go value of type map[string]interface {}`,
  )
}

function sortOf(document: unknown): string {
  if (document === null) return 'null'
  if (typeof document === 'boolean') return 'bool'
  return Array.isArray(document) ? 'array' : typeof document
}

type Checks = {
  readonly ofPatch: readonly string[]
  readonly validation: FieldValidation
  readonly proven: KubeObject | undefined
}

/** The patched document as an object that may be stored in place of the old one. */
function toSent(call: Call, document: unknown, { ofPatch, validation, proven }: Checks): KubeObject {
  const { resource, request } = call
  if (!isRecord(document)) throw undecodable(call, document, 'the patched document is not an object')
  checkType(resource, document.apiVersion, document.kind)
  const { object, unknown } = prune(resource.kind, decodePatched(call, document, proven), proven)
  const problems = [...ofPatch, ...fieldProblems([], unknown)]
  if (problems.length > 0 && validation === 'Strict') {
    throw undecodable(call, document, `strict decoding error: ${problems.join(', ')}`)
  }
  if (validation === 'Warn') for (const problem of problems) request.warn(problem)
  checkAddress(call, object)
  return object
}

function decodePatched(call: Call, document: JsonRecord, proven: KubeObject | undefined): KubeObject {
  try {
    return toObject(call.resource.kind, call.resource.served.version, document, proven)
  } catch (thrown) {
    throw isReason(thrown, 'BadRequest') ? undecodable(call, document, thrown.message) : thrown
  }
}

function undecodable({ resource, name }: Call, document: unknown, why: string): StatusError {
  const text = JSON.stringify(document).slice(0, maxQuotedLength)
  return invalid(resource.kindRef, name, [invalidValue('patch', text, why)])
}
