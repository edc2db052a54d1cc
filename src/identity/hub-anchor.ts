import { hash } from 'node:crypto'
import { Agent, request } from 'node:https'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { errorText } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import { unavailable } from '../kernel/errors.ts'

const answerWithinMs = 10_000
const maxChain = 10

/**
 * The hub's authority, PEM, from the chain that one of the servers shows: the certificate with this SHA-256. Nothing is
 * said to a server before it is known. Throws an `Error` that names what went wrong with each server,
 * `ServiceUnavailable` when none could be reached.
 */
export async function fetchAuthority(
  servers: readonly string[],
  sha256: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  const problems: string[] = []
  let reached = false
  for (const server of servers) {
    try {
      const found = (await chainOf(server, clock, signal)).find(raw => hash('sha256', raw) === sha256)
      if (found !== undefined) return pemOf(found)
      reached = true
      problems.push(`${server} is another hub than the one that made the token`)
    } catch (thrown) {
      signal.throwIfAborted()
      problems.push(`${server} cannot be reached: ${errorText(thrown)}`)
    }
  }
  const text = problems.join('; ')
  throw reached ? new Error(text) : unavailable(text)
}

/** DER of the chain that a server shows, unverified. */
function chainOf(server: string, clock: Clock, signal: AbortSignal): Promise<readonly Buffer[]> {
  const { hostname } = new URL(server)
  const loopback = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
  const agent = new Agent({ rejectUnauthorized: false, ...(loopback ? {} : { proxyEnv: process.env }) })
  return new Promise((resolve, reject) => {
    const asked = request(`${server}/livez`, { agent, signal }, answer => {
      // Requests of the https module come over TLS sockets.
      const shown = chain((answer.socket as TLSSocket).getPeerCertificate(true))
      answer.destroy()
      resolve(shown)
    })
    const cancel = clock.after(answerWithinMs, () => asked.destroy(new Error('no answer within 10 s')))
    asked.on('error', reject)
    asked.on('close', cancel)
    asked.end()
  })
}

function chain(leaf: DetailedPeerCertificate): readonly Buffer[] {
  const raws: Buffer[] = []
  let current: DetailedPeerCertificate | undefined = leaf
  while (current?.raw !== undefined && raws.length < maxChain) {
    raws.push(current.raw)
    // A self-signed certificate is its own issuer.
    current = current.issuerCertificate === current ? undefined : current.issuerCertificate
  }
  return raws
}

function pemOf(der: Buffer): string {
  const text = der.toString('base64').replace(/.{64}(?!$)/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`
}
