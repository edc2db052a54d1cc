/**
 * The token with which a cluster joins, as one line that people copy:
 *
 *     isthmus://<id>.<secret>.<SHA-256 of the hub's authority>@<host>:<port>[,<host>:<port>…]
 *
 * The hash lets the new member know its hub before it says anything; the secret is sent to no other server.
 */
import { hash, randomBytes } from 'node:crypto'

export type JoinToken = {
  readonly id: string
  readonly secret: string
  /** Of the DER of the hub's authority, in lower-case hex. */
  readonly authoritySha256: string
  /** `https://host:port` each, in the order in which they are tried. */
  readonly servers: readonly string[]
}

const scheme = 'isthmus://'
const form = /^([a-z0-9]{6,63})\.([A-Za-z0-9_-]{22,128})\.([0-9a-f]{64})@([^@]+)$/
const maxServers = 16
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** A name and a secret of 256 bits. */
export function newTokenSecret(): Pick<JoinToken, 'id' | 'secret'> {
  const id = [...randomBytes(10)].map(byte => alphabet[byte % alphabet.length]).join('')
  return { id, secret: randomBytes(32).toString('base64url') }
}

/** What the hub keeps of the secret. */
export function secretSha256(secret: string): string {
  return hash('sha256', secret)
}

export function formatJoinToken(token: JoinToken): string {
  const addresses = token.servers.map(server => server.replace(/^https:\/\//, ''))
  return `${scheme}${token.id}.${token.secret}.${token.authoritySha256}@${addresses.join(',')}`
}

/** Undefined when the text is no join token. */
export function parseJoinToken(text: string): JoinToken | undefined {
  if (!text.startsWith(scheme) || text.length > 4096) return undefined
  const [, id, secret, authoritySha256, addresses] = form.exec(text.slice(scheme.length).trim()) ?? []
  if (id === undefined || secret === undefined || authoritySha256 === undefined) return undefined
  const servers = (addresses ?? '').split(',').map(address => `https://${address}`)
  const good = servers.length <= maxServers && servers.every(isOrigin)
  return good ? { id, secret, authoritySha256, servers } : undefined
}

/** `https://host:port` and nothing behind it. */
function isOrigin(server: string): boolean {
  if (!URL.canParse(server)) return false
  const url = new URL(server)
  return (
    url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '' && url.hostname !== ''
  )
}
