import { isReason, unauthorized } from '../../src/kernel/errors.ts'
import type { Authenticator, UserInfo } from '../contract.ts'
import type { Guesses } from './guesses.ts'

/**
 * Finds the user of a token; undefined when it does not know the token. Must not tell by its timing how much of a token
 * was right.
 */
export type TokenLookup = (token: string, signal: AbortSignal) => Promise<UserInfo | undefined>

/** Longer ones are not looked up. */
const maxTokenLength = 16_384

/**
 * `Authorization: Bearer …`, looked up in turn. A token that none of the lookups knows is an error, an empty one is none.
 * None is looked up for an address that has sent too many of these.
 */
export function bearerAuthenticator(lookups: readonly TokenLookup[], guesses: Guesses): Authenticator {
  const lookUp = async (token: string, address: string, signal: AbortSignal): Promise<UserInfo> => {
    guesses.check(address)
    if (token.length > maxTokenLength) throw unauthorized('bearer token is too long')
    try {
      return await userOf(token, lookups, signal)
    } catch (thrown) {
      if (isReason(thrown, 'Unauthorized')) guesses.wrong(address)
      throw thrown
    }
  }
  return {
    isCredential: header => header === 'authorization',
    authenticate({ headers, peer }, signal) {
      const token = bearerToken(headers.get('authorization')?.[0])
      return token === '' ? undefined : lookUp(token, peer.address, signal)
    },
  }
}

async function userOf(
  token: string,
  lookups: readonly TokenLookup[],
  signal: AbortSignal,
): Promise<UserInfo> {
  for (const lookup of lookups) {
    const user = await lookup(token, signal)
    if (user !== undefined) return user
  }
  throw unauthorized('unknown bearer token')
}

/** RFC 6750 2.1; the scheme is case-insensitive (RFC 9110 11.1). */
function bearerToken(header: string | undefined): string {
  if (header === undefined) return ''
  const [scheme, token] = header.trim().split(/ +/, 2)
  return scheme?.toLowerCase() === 'bearer' ? (token ?? '') : ''
}
