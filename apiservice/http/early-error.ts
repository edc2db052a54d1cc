import type { Duplex } from 'node:stream'
import type { Status } from '../../src/kernel/errors.ts'
import { badRequest, StatusError } from '../../src/kernel/errors.ts'

type ClientError = Error & { readonly code?: string }

/**
 * Answers what Node's HTTP/1.1 parser refused before there was a request: a Status as everywhere, and the end of the
 * connection, since nobody knows where the next request begins.
 */
export function answerEarlyError(error: ClientError, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET' || error.code?.startsWith('ERR_SSL')) {
    socket.destroy()
    return
  }
  socket.end(earlyResponse(statusOf(error).toStatus()))
}

function statusOf(error: ClientError): StatusError {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new StatusError(431, '', 'the request header fields are too large')
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new StatusError(408, 'Timeout', 'the request did not arrive in time')
  }
  return badRequest('the request is not valid HTTP')
}

const phrases: ReadonlyMap<number, string> = new Map([
  [400, 'Bad Request'],
  [408, 'Request Timeout'],
  [431, 'Request Header Fields Too Large'],
])

function earlyResponse(status: Status): string {
  const code = status.code ?? 400
  const body = `${JSON.stringify(status)}\n`
  return [
    `HTTP/1.1 ${code} ${phrases.get(code) ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-cache, private',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
