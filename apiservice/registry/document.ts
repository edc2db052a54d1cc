/** From the bytes of a request to an object of the served kind: media type, envelope, unknown and duplicate fields. */
import { cannotBeHandled, toObject } from '../../src/api/derive/object.ts'
import { protobufEnvelope, protobufMediaType, readProtobuf } from '../../src/api/derive/protobuf-object.ts'
import { prune } from '../../src/api/derive/validate.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { isRecord, type JsonRecord } from '../../src/api/record.ts'
import type { Parsed } from '../../src/codec/json.ts'
import { decodeDocument, documentMediaTypes, mediaTypeOf } from '../../src/codec/media.ts'
import { badRequest, isReason, type StatusError, unsupportedMediaType } from '../../src/kernel/errors.ts'
import { andThen, unlessFailed } from '../../src/kernel/when-settled.ts'
import type { ApiRequest } from '../contract.ts'
import { type Current, provenOf } from './current.ts'
import { readLike } from './known-fields.ts'
import type { FieldValidation } from './options.ts'
import { type Call, isBuiltIn, type Resource } from './parts.ts'
import { sharing } from './sharing.ts'

const maxSummaryBytes = 30
const maxQuotedBytes = 1024

const jsonMediaType = 'application/json'

/** Of a configuration for server-side apply, which may also be JSON. */
export const applyMediaType = 'application/apply-patch+yaml'

/** The type of the body in lower case, without parameters. An absent Content-Type is JSON. */
export function contentTypeOf(request: ApiRequest): string {
  const type = mediaTypeOf(request.headers.get('content-type')?.[0] ?? '')
  return type === '' ? jsonMediaType : type
}

/** Documents that may also be protocol buffers. */
export const withProtobuf: readonly string[] = [...documentMediaTypes, protobufMediaType]

/** Throws 415 unless the body is of a type that is accepted. */
export function documentTypeOf(request: ApiRequest, accepted: readonly string[]): string {
  const type = contentTypeOf(request)
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted)
  return type
}

/**
 * The object of a create or an update, without fields that its schema does not know. Throws 415 for other media types,
 * 400 for what is no object of the kind at the version, and for unknown or duplicate fields under `Strict`. What is as in
 * the `last` object is taken from there.
 */
export function readObject(call: Call, validation: FieldValidation, last?: Current): Promise<KubeObject> {
  const { request, resource } = call
  const hasProtobuf = resource.kind.protobuf !== undefined
  const contentType = documentTypeOf(request, hasProtobuf ? withProtobuf : documentMediaTypes)
  return request.body().then(bytes => {
    const like = last !== undefined && contentType === jsonMediaType ? readLike(last.known, bytes) : undefined
    const isAlike = like !== undefined
    const read = ({ value, duplicates }: Parsed): KubeObject | Promise<KubeObject> => {
      request.notes.document = value
      return call.pace.goOn(() => {
        const document = checkEnvelope(resource, value, bytes)
        return toSent(call, document, { duplicates, validation, isAlike, proven: last && provenOf(last) })
      })
    }
    const parsed = isAlike ? { value: like, duplicates: [] } : parse(resource, bytes, contentType)
    return andThen(parsed, read)
  })
}

type Reading = {
  readonly duplicates: readonly string[]
  readonly validation: FieldValidation
  /** Whether it was read beside the last object, of which it has what is the same. */
  readonly isAlike: boolean
  readonly proven: KubeObject | undefined
}

function toSent({ request, resource }: Call, checked: JsonRecord, reading: Reading): KubeObject {
  const { duplicates, validation, isAlike, proven } = reading
  const document = isAlike ? checked : sharing(checked, proven)
  const { kind, served } = resource
  const { object, unknown } = prune(kind, toObject(kind, served.version, document, proven), proven)
  const problems = fieldProblems(duplicates, unknown)
  if (problems.length > 0 && validation === 'Strict') {
    throw badRequest(cannotBeHandled(kind, served.version, `strict decoding error: ${problems.join(', ')}`))
  }
  if (validation === 'Warn') for (const problem of problems) request.warn(problem)
  return object
}

const none: readonly string[] = []

/** What field validation has to say, as warnings and strict errors put it. */
export function fieldProblems(duplicates: readonly string[], unknown: readonly string[]): readonly string[] {
  if (duplicates.length === 0 && unknown.length === 0) return none
  return [
    ...duplicates.map(path => `duplicate field "${path}"`),
    ...unknown.map(path => `unknown field "${path}"`),
  ]
}

function parse(resource: Resource, bytes: Buffer, contentType: string): Parsed | Promise<Parsed> {
  const isProtobuf = contentType === protobufMediaType
  return unlessFailed(
    () => (isProtobuf ? decodeProtobuf(resource, bytes) : decodeDocument(bytes, contentType)),
    thrown => {
      if (!isReason(thrown, 'BadRequest')) throw thrown
      throw unrecognized(resource, parseFault(contentType, thrown), bytes)
    },
  )
}

/** What is said of a body that cannot be read. */
export function parseFault(contentType: string, { message }: StatusError): string {
  const format = /(?<![a-z])[a-z]+$/.exec(contentType)?.[0] ?? ''
  return `couldn't get version/kind; ${format} parse error: ${message}`
}

/** An object of another type is not read: only its names are, and refused. */
function decodeProtobuf({ kind, apiVersion: served }: Resource, bytes: Buffer): Parsed {
  const { raw, ...names } = protobufEnvelope(bytes)
  const isServed = names.apiVersion === served && names.kind === kind.kind
  return { value: isServed ? { ...readProtobuf(kind, raw), ...names } : names, duplicates: [] }
}

function unrecognized(resource: Resource, why: string, bytes: Buffer): StatusError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${resource.kind.kind}): ${why} (${summary(bytes)})`,
  )
}

function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>'
  const head = bytes.subarray(0, maxSummaryBytes)
  const more = bytes.length > maxSummaryBytes ? ' ...' : ''
  return head.toString(bytes[0] === openBrace ? 'utf8' : 'hex') + more
}

const openBrace = 0x7b

function checkEnvelope(resource: Resource, value: unknown, bytes: Buffer): JsonRecord {
  if (!isRecord(value)) {
    throw unrecognized(resource, "couldn't get version/kind; the body is not an object", bytes)
  }
  const { apiVersion, kind } = value
  // Custom resources have to say what they are.
  if (isAbsent(kind) && !isBuiltIn(resource.kind)) {
    const quoted = bytes.toString('utf8', 0, maxQuotedBytes)
    throw unrecognized(resource, `Object 'Kind' is missing in '${quoted}'`, bytes)
  }
  checkType(
    resource,
    isAbsent(apiVersion) ? resource.apiVersion : apiVersion,
    isAbsent(kind) ? resource.kind.kind : kind,
  )
  const isWhole = apiVersion === resource.apiVersion && kind === resource.kind.kind
  return isWhole ? value : { ...value, apiVersion: resource.apiVersion, kind: resource.kind.kind }
}

/** Throws 400 when the data is of another type than the address. */
export function checkType(resource: Resource, apiVersion: unknown, kind: unknown): void {
  if (apiVersion !== resource.apiVersion) {
    throw badRequest(
      `the API version in the data (${named(apiVersion)}) does not match the expected API version (${resource.apiVersion})`,
    )
  }
  if (kind !== resource.kind.kind) {
    throw badRequest(
      `the kind in the data (${named(kind)}) does not match the expected kind (${resource.kind.kind})`,
    )
  }
}

/** What a document says of its type, as messages put it: nothing when it says nothing. */
export function named(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '').replaceAll('"', '')
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/**
 * Throws 400 when the object says another name or namespace than the address. A namespace that it does not say is the
 * one of the address.
 */
export function checkAddress(call: Call, { metadata }: KubeObject): void {
  if (!metadata.name) {
    throw badRequest(
      `the name of the object (${call.name} based on URL) was undeterminable: name must be provided`,
    )
  }
  if (metadata.name !== call.name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${call.name})`,
    )
  }
  checkNamespace(call, metadata.namespace)
}

/** Throws 400. Cluster-scoped objects may say anything. */
export function checkNamespace(call: Call, namespace: string | undefined): void {
  if (call.resource.kind.scope === 'Cluster' || !namespace || namespace === call.namespace) return
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}
