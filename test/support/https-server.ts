import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type Identity, issueClient, issueServing, makeAuthority } from '../../src/identity/certificate.ts'
import { systemClock } from '../../src/kernel/clock.ts'

const lifetime = { clock: systemClock, lifetimeMs: 3_600_000 }

export type HttpsServer = {
  readonly url: string
  readonly authority: Identity
  readonly client: Identity
  /** What was asked, as `GET /path`, with the user of the client's certificate where there was one. */
  readonly asked: readonly string[]
  /** How many connections were opened. */
  readonly connections: number
  /** Breaks every open connection. */
  cut(): void
  close(): Promise<void>
}

/** An HTTPS server that answers as it is told, with an authority of its own. */
export async function httpsServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<HttpsServer> {
  const authority = await makeAuthority('test', lifetime)
  const serving = await issueServing(authority, ['localhost', '127.0.0.1', 'server.test'], lifetime)
  const client = await issueClient(authority, { user: 'ada', groups: [] }, lifetime)
  const asked: string[] = []
  let connections = 0
  const listener: RequestListener = (request, response) => {
    // Requests of an https server come over TLS sockets.
    const { subject } = (request.socket as TLSSocket).getPeerCertificate()
    asked.push(`${request.method} ${request.url}${subject ? ` by ${subject.CN}` : ''}`)
    answer(request, response)
  }
  const options = {
    cert: serving.certificate,
    key: serving.key,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  }
  const server = createServer(options, listener)
  server.on('secureConnection', () => {
    connections += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `https://127.0.0.1:${port}`,
    authority,
    client,
    asked,
    get connections() {
      return connections
    },
    cut: () => server.closeAllConnections(),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function sendJson(response: ServerResponse, code: number, document: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(document))
}
