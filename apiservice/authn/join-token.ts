import { hash, timingSafeEqual } from 'node:crypto'
import { apiVersionOf, resourceOf } from '../../src/api/kind.ts'
import { type JoinToken, JoinTokenKind } from '../../src/api/kinds/join-token.ts'
import { decodeBody } from '../../src/codec/object-bytes.ts'
import { type Clock, fromTime } from '../../src/kernel/clock.ts'
import { qualified } from '../../src/kernel/errors.ts'
import type { Store } from '../store-contract.ts'
import type { TokenLookup } from './bearer-token.ts'

/** What is kept of a join token: never its secret. */
export type JoinTokenRecord = {
  /** SHA-256 of the secret, in lower-case hex. */
  readonly secretSha256: string
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number
}

export type JoinTokenOptions = {
  readonly clock: Clock
  /** Undefined when there is no such token. */
  readonly find: (id: string, signal: AbortSignal) => Promise<JoinTokenRecord | undefined>
}

const joinersGroup = 'hub.isthmus.dev:joiners'
const tokens = resourceOf(JoinTokenKind)
const joinerPrefix = 'hub.isthmus.dev:joiner:'

/** `<id>.<secret>`; the secret's length keeps guessing hopeless. */
const form = /^([a-z0-9]{6,63})\.([A-Za-z0-9_-]{22,128})$/

/**
 * Clusters that are about to join the ClusterSet, by the token that they were given: the user is
 * `hub.isthmus.dev:joiner:<id>`, in a group that may ask for membership and nothing else. A used token
 * still tells who asks, since an answer may have been lost; what it is good for then, joining decides.
 */
export function joinTokens(options: JoinTokenOptions): TokenLookup {
  return async (token, signal) => {
    const [, id, secret] = form.exec(token) ?? []
    if (id === undefined || secret === undefined) return undefined
    const record = await options.find(id, signal)
    if (record === undefined || !matches(secret, record.secretSha256)) return undefined
    if (!(record.expiresAtMs > options.clock.now())) return undefined
    return { name: `${joinerPrefix}${id}`, groups: [joinersGroup], extra: {} }
  }
}

/** Finds what is stored of a token. */
export function storedJoinTokens(store: Pick<Store, 'get'>): JoinTokenOptions['find'] {
  return async id => {
    const stored = await store.get({ resource: qualified(tokens), namespace: '', name: id })
    if (stored === undefined) return undefined
    // The kind's schema has accepted what is stored under its name.
    const { spec } = decodeBody(apiVersionOf(JoinTokenKind), JoinTokenKind.kind, stored) as JoinToken
    return { secretSha256: spec.secretSHA256, expiresAtMs: fromTime(spec.expirationTime) }
  }
}

function matches(secret: string, sha256: string): boolean {
  const presented = hash('sha256', secret, 'buffer')
  const known = Buffer.from(sha256, 'hex')
  return known.length === presented.length && timingSafeEqual(known, presented)
}
