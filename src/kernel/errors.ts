import { type FieldError, fieldErrorText, shown } from './field-error.ts'

/** `metav1.StatusReason`; the empty reason means unknown. */
export type StatusReason =
  | ''
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Invalid'
  | 'ServerTimeout'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable'

export type StatusCause = { readonly reason: string; readonly message: string; readonly field?: string }

export type StatusDetails = {
  readonly name?: string
  readonly group?: string
  /** The plural for 403, 404 and 409; the kind for 422. */
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** `v1.Status`, as it goes over the wire. */
export type Status = {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: { readonly continue?: string }
  readonly status: 'Failure' | 'Success'
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code?: number
}

type StatusExtras = { readonly details?: StatusDetails; readonly continue?: string; readonly cause?: unknown }

/** The one error class: an HTTP code, a Kubernetes reason and a message that a client may read. */
export class StatusError extends Error {
  readonly code: number
  readonly reason: StatusReason
  readonly details: StatusDetails | undefined
  readonly continueToken: string | undefined

  constructor(code: number, reason: StatusReason, message: string, extras: StatusExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.name = 'StatusError'
    this.code = code
    this.reason = reason
    this.details = extras.details
    this.continueToken = extras.continue
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    }
  }
}

export function isReason(thrown: unknown, ...reasons: readonly StatusReason[]): thrown is StatusError {
  return thrown instanceof StatusError && reasons.includes(thrown.reason)
}

/** A resource as errors name it: plural and group, group empty for the core group. */
export type ResourceRef = { readonly group: string; readonly resource: string }

/** `serviceexports.multicluster.x-k8s.io`, or `services` in the core group. */
export function qualified(ref: ResourceRef): string {
  return ref.group === '' ? ref.resource : `${ref.resource}.${ref.group}`
}

function detailsOf(ref: ResourceRef, name: string, more: Partial<StatusDetails> = {}): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(ref.group === '' ? {} : { group: ref.group }),
    kind: ref.resource,
    ...more,
  }
}

export function notFound(ref: ResourceRef, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${qualified(ref)} ${shown(name)} not found`, {
    details: detailsOf(ref, name),
  })
}

/** An address that names nothing this server serves. */
export function noSuchPath(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', { details: {} })
}

/**
 * - terminating: what is in the way is being deleted.
 * - exhausted: no free name could be generated; the client may try again.
 */
export function alreadyExists(
  ref: ResourceRef,
  name: string,
  why?: 'terminating' | 'exhausted',
): StatusError {
  const prefix = why === 'terminating' ? 'object is being deleted: ' : ''
  const suffix =
    why === 'exhausted' ? ', the server was not able to generate a unique name for the object' : ''
  return new StatusError(
    409,
    'AlreadyExists',
    `${prefix}${qualified(ref)} ${shown(name)} already exists${suffix}`,
    { details: detailsOf(ref, name, why === 'exhausted' ? { retryAfterSeconds: 1 } : {}) },
  )
}

const modified = 'the object has been modified; please apply your changes to the latest version and try again'

export function conflict(ref: ResourceRef, name: string, why: string = modified): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(ref)} ${shown(name)}: ${why}`
  return new StatusError(409, 'Conflict', message, { details: detailsOf(ref, name) })
}

/** 409 of server-side apply, with a cause for each field that another manager holds. */
export function applyFailed(message: string, causes: readonly StatusCause[]): StatusError {
  return new StatusError(409, 'Conflict', message, { details: { causes } })
}

export type KindRef = { readonly group: string; readonly kind: string }

/** Whoever sends thousands of faults needs to see only the first. */
const maxCauses = 100

/** 422 with a cause for each field; a sentence that two causes share is said once. */
export function invalid(ref: KindRef, name: string, faults: readonly FieldError[]): StatusError {
  const errors = faults.slice(0, maxCauses)
  const texts = [...new Set(errors.map(fieldErrorText))]
  const joined = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  const title = ref.group === '' ? ref.kind : `${ref.kind}.${ref.group}`
  return new StatusError(422, 'Invalid', `${title} ${shown(name)} is invalid: ${joined}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(ref.group === '' ? {} : { group: ref.group }),
      kind: ref.kind,
      causes: errors.map(e => ({ reason: e.type, message: e.message, field: e.field })),
    },
  })
}

/** 422 without causes, as a JSON patch that does not fit the object is answered. */
export function unprocessable(): StatusError {
  const message = 'the server rejected our request due to an error in our request'
  return new StatusError(422, 'Invalid', message, { details: {} })
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message)
}

/** The client learns nothing about what was wrong with its credentials; `cause` is for the log. */
export function unauthorized(cause?: string): StatusError {
  return new StatusError(401, 'Unauthorized', 'Unauthorized', cause === undefined ? {} : { cause })
}

export function forbidden(
  ref: ResourceRef,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): StatusError {
  const subject = name === '' ? qualified(ref) : `${qualified(ref)} ${shown(name)}`
  return new StatusError(403, 'Forbidden', `${subject} is forbidden: ${why}`, {
    details: detailsOf(ref, name, causes === undefined ? {} : { causes }),
  })
}

/** The cause of a 403 that lasts only until there is room again. */
export const quotaExceeded = 'QuotaExceeded'

export function isOverQuota(thrown: unknown): thrown is StatusError {
  if (!isReason(thrown, 'Forbidden')) return false
  return thrown.details?.causes?.some(({ reason }) => reason === quotaExceeded) ?? false
}

/** 403 on a path that is no resource. */
export function forbiddenPath(why: string): StatusError {
  return new StatusError(403, 'Forbidden', `forbidden: ${why}`, { details: {} })
}

export function methodNotAllowed(
  message = 'the server does not allow this method on the requested resource',
): StatusError {
  return new StatusError(405, 'MethodNotAllowed', message, { details: {} })
}

/** A verb that this resource does not have, while others work. */
export function unsupportedVerb(ref: ResourceRef, verb: string): StatusError {
  const message = `${verb} is not supported on resources of kind "${qualified(ref)}"`
  return new StatusError(405, 'MethodNotAllowed', message, { details: detailsOf(ref, '') })
}

export function notAcceptable(accepted: readonly string[]): StatusError {
  return new StatusError(
    406,
    'NotAcceptable',
    `only the following media types are accepted: ${accepted.join(', ')}`,
  )
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
  return new StatusError(415, 'UnsupportedMediaType', message)
}

export function tooLarge(limitBytes: number): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limitBytes}`)
}

/** The object itself, or what a patch would make of it, is more than is stored. */
export function objectTooLarge(bytes: number, limitBytes: number): StatusError {
  const message = `Request entity too large: the object is ${bytes} bytes as JSON, at most ${limitBytes} are stored`
  return new StatusError(413, 'RequestEntityTooLarge', message)
}

/** More keys and items in one document than are looked at. */
export function tooManyValues(): StatusError {
  const message = 'Request entity too large: the document has too many keys and values'
  return new StatusError(413, 'RequestEntityTooLarge', message)
}

/** More operations in one JSON patch than are carried out. */
export function tooManyOperations(count: number, limit: number): StatusError {
  const message = `The allowed maximum operations in a JSON patch is ${limit}, got ${count}`
  return new StatusError(413, 'RequestEntityTooLarge', message)
}

/** The asked revision is no longer kept. `token` lets a paging client go on inconsistently. */
export function expired(message: string, token?: string): StatusError {
  return new StatusError(410, 'Expired', message, token === undefined ? {} : { continue: token })
}

export function tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return new StatusError(429, 'TooManyRequests', message, { details: { retryAfterSeconds } })
}

export function timedOut(
  message: string,
  retryAfterSeconds = 0,
  causes?: readonly StatusCause[],
): StatusError {
  return new StatusError(504, 'Timeout', message, {
    details: {
      ...(causes === undefined ? {} : { causes }),
      ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
    },
  })
}

export function unavailable(message: string, retryAfterSeconds = 1, cause?: unknown): StatusError {
  return new StatusError(503, 'ServiceUnavailable', message, { details: { retryAfterSeconds }, cause })
}

/** What a client sees of a fault of ours: that it happened, not how. The cause goes to the log. */
export function internal(message: string, cause?: unknown): StatusError {
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, {
    details: { causes: [{ reason: '', message }] },
    cause,
  })
}

/** The other side sent something that is no answer of the protocol. */
export function badAnswer(message: string, cause?: unknown): StatusError {
  return new StatusError(502, '', message, { cause })
}

/** Of a file or directory that is not there. */
export function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'
}
