import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Status } from '../../src/kernel/errors.ts'
import { badRequest, methodNotAllowed, StatusError } from '../../src/kernel/errors.ts'

type ClientError = Error & { readonly code?: string }

/**
 * Answers what Node's HTTP/1.1 parser refused before there was a request: a Status as everywhere, and the end of the
 * connection, since nobody knows where the next request begins.
 */
export function answerEarlyError(error: ClientError, socket: Duplex): void {
  // Answered already; what its client goes on to send makes more errors. Closing now could cost it the answer.
  if (socket.writableEnded) return
  const status = statusOf(error)
  if (!socket.writable || status === undefined) socket.destroy()
  else socket.end(earlyResponse(status.toStatus()))
}

/** Nobody is connected to a third party here. */
export function refuseTunnel(socket: Duplex): void {
  socket.end(earlyResponse(methodNotAllowed().toStatus()))
}

/** Undefined for what is no fault of a request but the end of its connection. */
function statusOf(error: ClientError): StatusError | undefined {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new StatusError(431, '', 'the request header fields are too large')
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new StatusError(408, 'Timeout', 'the request did not arrive in time')
  }
  return error.code?.startsWith('HPE_') ? badRequest('the request is not valid HTTP') : undefined
}

const phrases: ReadonlyMap<number, string> = new Map([
  [400, 'Bad Request'],
  [405, 'Method Not Allowed'],
  [408, 'Request Timeout'],
  [431, 'Request Header Fields Too Large'],
])

function earlyResponse(status: Status): string {
  const code = status.code ?? 400
  const body = `${JSON.stringify(status)}\n`
  return [
    `HTTP/1.1 ${code} ${phrases.get(code) ?? ''}`,
    `Audit-Id: ${randomUUID()}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-cache, private',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
