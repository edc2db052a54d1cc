import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2SecureServer } from 'node:http2'
import { Duplex } from 'node:stream'
import { refuseTunnel } from './early-error.ts'
import type { RawRequest } from './request.ts'
import type { RawResponse } from './respond.ts'

/** What Node would answer without a body, or not at all, is answered like any other request. */
export function answerOddRequests(
  server: Http2SecureServer,
  handle: (request: RawRequest, response: RawResponse, target: string) => void,
): void {
  // Whatever is expected of us beyond 100-continue, the request itself can be answered.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response),
  )
  // HTTP/1.1 hands out the connection, HTTP/2 a response.
  server.on('connect', (request: RawRequest, end: Duplex | RawResponse) => {
    if (end instanceof Duplex) refuseTunnel(end)
    else handle(request, end, '')
  })
}
