import { type Status, StatusError, type StatusReason } from './errors.ts'

const reasonsByCode: ReadonlyMap<number, StatusReason> = new Map([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
  [406, 'NotAcceptable'],
  [409, 'Conflict'],
  [410, 'Expired'],
  [413, 'RequestEntityTooLarge'],
  [415, 'UnsupportedMediaType'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
])

/**
 * What another server answered, as an error. `answer` is its body: a `v1.Status`, or anything that something between
 * the server and us made up.
 */
export function fromStatus(code: number, answer: unknown): StatusError {
  const status: Partial<Status> = isStatus(answer) ? answer : { message: madeUp(code, answer) }
  const { details, metadata } = status
  const effective = status.code ?? code
  return new StatusError(effective, reasonOf(effective, status.reason), status.message ?? madeUp(code, ''), {
    ...(details === undefined ? {} : { details }),
    ...(metadata?.continue ? { continue: metadata.continue } : {}),
  })
}

function madeUp(code: number, answer: unknown): string {
  const text = typeof answer === 'string' ? answer.trim().slice(0, 200) : ''
  return `the server answered ${code}${text === '' ? '' : `: ${text}`}`
}

function reasonOf(code: number, sent: string | undefined): StatusReason {
  if (sent === undefined || sent === '') return reasonsByCode.get(code) ?? ''
  // `Gone` is what servers said before `Expired`. Reasons unknown to this program are shown, never branched on.
  return sent === 'Gone' ? 'Expired' : (sent as StatusReason)
}

function isStatus(answer: unknown): answer is Partial<Status> {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'Status'
}
