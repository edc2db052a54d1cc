/**
 * Content negotiation. Owns what a client may ask for by Accept, `?pretty=` and `?includeObject=`, and turns replies
 * into bytes; promises that every error leaves as a Status, in JSON unless YAML was asked for. Two stages: `render`
 * stands above all others, `requireAcceptable` before the work of a resource request, so that nothing is written for a
 * client that cannot read the answer.
 */
import type { Clock } from '../../src/kernel/clock.ts'
import { badRequest, internal, notAcceptable, type Status, StatusError } from '../../src/kernel/errors.ts'
import { whenSettled } from '../../src/kernel/when-settled.ts'
import type { ApiRequest, Encoded, Handler, Reply, RequestInfo, Responder, Stage } from '../contract.ts'
import { type Choice, choicesOf } from './accept.ts'
import { contentTypes, type EncodeOptions, encodeList, encodeObject, laidOut } from './encode.ts'
import { frameEncoder } from './frames.ts'
import { includeObjectOf } from './table.ts'

const acceptedTypes: readonly string[] = ['application/json', 'application/yaml']

const plainJson: Choice = { format: 'json', transform: undefined, pretty: false }

/** What the client is told of something that was thrown. */
type Recovery = (thrown: unknown, request: ApiRequest, signal: AbortSignal) => StatusError

/** Neither throws nor rejects: `recover` says what is told of a fault. */
export function render(clock: Clock, recover: Recovery): (next: Handler) => Responder {
  return next => (request, signal) =>
    whenSettled(
      () => next(request, signal),
      reply => encoded(request, reply, clock),
      thrown => encodeError(request, recover(thrown, request, signal)),
    )
}

function encoded(request: ApiRequest, reply: Reply, clock: Clock): Encoded {
  try {
    const encoding = encodeReply(request, reply, clock)
    if (encoding.type !== 'slices') return encoding
    return { ...encoding, failed: thrown => encodeError(request, notEncoded(thrown)) }
  } catch (thrown) {
    return encodeError(request, notEncoded(thrown))
  }
}

function notEncoded(thrown: unknown): StatusError {
  return thrown instanceof StatusError ? thrown : internal('the answer could not be encoded', thrown)
}

/** Refuses with 406 or 400 what could not be answered in a form that the client takes. */
export const requireAcceptable: Stage = next => (request, signal) => {
  if (request.headers.has('upgrade') && request.info.verb === 'watch') {
    throw badRequest('watches over WebSocket are not served: send the request without Upgrade')
  }
  const choice = chosen(request)
  if (choice === undefined) throw notAcceptable(acceptedTypes)
  const mismatch = mismatchOf(choice, request.info)
  if (mismatch !== undefined) throw mismatch
  if (choice.transform?.as === 'Table') includeObjectOf(request.query)
  return next(request, signal)
}

function chosen(request: ApiRequest): Choice | undefined {
  const choices = choicesOf(acceptOf(request))
  // There is no way to tell where a frame of YAML ends.
  return request.info.verb === 'watch' ? choices.find(choice => choice.format === 'json') : choices[0]
}

function acceptOf({ headers }: ApiRequest): string | undefined {
  const lines = headers.get('accept')
  return lines?.length === 1 ? lines[0] : lines?.join(',')
}

/** Lists and single objects as metadata have different names, and one is not taken for the other. */
function mismatchOf(choice: Choice, info: RequestInfo): StatusError | undefined {
  const as = choice.transform?.as
  if (as === 'PartialObjectMetadata' && info.verb === 'list')
    return notTransformable(`you requested ${as}, but the requested object is a list`)
  if (as === 'PartialObjectMetadataList' && info.verb !== 'list' && info.verb !== 'deletecollection') {
    return notTransformable(`you requested ${as}, but the requested object is not a list`)
  }
  return undefined
}

function notTransformable(message: string): StatusError {
  return new StatusError(406, 'NotAcceptable', message)
}

function encodeReply(request: ApiRequest, reply: Reply, clock: Clock): Encoded {
  switch (reply.type) {
    case 'object': {
      const choice = chosen(request) ?? plainJson
      return encodeObject(reply, choice, optionsOf(request, choice, clock))
    }
    case 'list': {
      const choice = chosen(request) ?? plainJson
      return encodeList(reply, choice, optionsOf(request, choice, clock))
    }
    case 'watch': {
      const choice = chosen(request) ?? plainJson
      const encode = frameEncoder(reply.served, choice, optionsOf(request, choice, clock))
      const headers = { 'content-type': 'application/json' }
      return { type: 'frames', code: 200, headers, encode, open: (sink, signal) => reply.open(sink, signal) }
    }
    case 'status':
      return encodeStatus(request, reply.code, reply.status)
    case 'raw':
      return { type: 'bytes', code: reply.code, headers: reply.headers, body: reply.body }
    case 'slices':
      return reply
  }
}

function optionsOf(request: ApiRequest, choice: Choice, clock: Clock): EncodeOptions {
  return {
    includeObject: choice.transform?.as === 'Table' ? includeObjectOf(request.query) : 'Metadata',
    now: () => clock.now(),
    pretty: wantsPretty(request),
  }
}

/** `?pretty=1`, or a client that people read the output of. */
function wantsPretty(request: ApiRequest): boolean {
  const asked = request.query.get('pretty')
  if (asked !== null && asked !== '') return /^(1|t|T|true|TRUE|True)$/.test(asked)
  return /^(curl|Wget|Mozilla\/5\.0)/.test(request.headers.get('user-agent')?.[0] ?? '')
}

function encodeError(request: ApiRequest, error: StatusError): EncodedBytes {
  return encodeStatus(request, error.code, error.toStatus())
}

type EncodedBytes = Extract<Encoded, { type: 'bytes' }>

function encodeStatus(request: ApiRequest, code: number, status: Status): EncodedBytes {
  // A Status is never transformed: whatever is asked for, people and machines look for the same fields in it.
  const asked = choicesOf(acceptOf(request)).find(c => c.transform === undefined)
  const choice = asked ?? plainJson
  const retryAfter = status.details?.retryAfterSeconds ?? 0
  return {
    type: 'bytes',
    code,
    headers: {
      'content-type': contentTypes[choice.format],
      ...(retryAfter > 0 ? { 'retry-after': String(retryAfter) } : {}),
    },
    body: laidOut(Buffer.from(`${JSON.stringify(status)}\n`, 'utf8'), choice, {
      pretty: wantsPretty(request),
    }),
  }
}
