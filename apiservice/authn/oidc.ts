/** People by the ID tokens of an OpenID provider, as kube-apiserver's `--oidc-*` flags have it. */
import { hash } from 'node:crypto'
import { type CryptoKey, compactVerify, decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose'
import { errorText } from '../../src/kernel/abort.ts'
import { unauthorized } from '../../src/kernel/errors.ts'
import { SharedAnswers } from '../../src/kernel/shared-answers.ts'
import type { UserInfo } from '../contract.ts'
import type { TokenLookup } from './bearer-token.ts'
import { ProviderKeys, type ProviderOptions } from './oidc-keys.ts'

/** Of kube-apiserver; `none` and shared secrets are not among them. */
export const signingAlgs = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const

export type OidcOptions = ProviderOptions & {
  /** What tokens must name among their audiences. */
  readonly clientId: string
  readonly usernameClaim: string
  /** `-` for none; when undefined, none for `email` and `<issuer>#` for every other claim. */
  readonly usernamePrefix: string | undefined
  readonly groupsClaim: string | undefined
  readonly groupsPrefix: string
  /** Claims that a token must have, and their values. */
  readonly requiredClaims: ReadonlyMap<string, string>
  readonly signingAlgs: readonly string[]
}

const rememberedMs = 10_000
const timeoutMs = 30_000
const maxEntries = 4096
/** What the server itself means by a name; kube-apiserver leaves it to prefixes that nobody calls somebody so. */
const reserved = ['system:', 'hub.isthmus.dev:']
/** Clocks of providers may be ahead by this much, as in go-oidc; for `exp` there is no such patience. */
const notBeforeLeewaySeconds = 300

/** Undefined for tokens of others. Throws 401 for a token of this issuer that is not good, and 503 as `ProviderKeys` does. */
export function oidcTokens(options: OidcOptions): TokenLookup {
  const { clock } = options
  const keys = new ProviderKeys(options)
  const answers = new SharedAnswers<UserInfo>({ clock, ttlMs: rememberedMs, timeoutMs, maxEntries })
  return async (token, signal) => {
    if (issuerOf(token) !== options.issuer) return undefined
    const ask = async (inner: AbortSignal): Promise<UserInfo> =>
      userOf(await verified(token, keys, options, inner), options)
    // The token itself is not kept.
    return answers.get(hash('sha256', token), ask, signal)
  }
}

/** What a token says of itself, which anybody may write. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return
  }
}

async function verified(
  token: string,
  keys: ProviderKeys,
  options: OidcOptions,
  signal: AbortSignal,
): Promise<JWTPayload> {
  await requireSignature(token, keys, options, signal)
  const claims = decodeJwt(token)
  const seconds = options.clock.now() / 1000
  const audiences = typeof claims.aud === 'string' ? [claims.aud] : (claims.aud ?? [])
  if (!audiences.includes(options.clientId)) throw unauthorized('bearer token is for another audience')
  if (typeof claims.exp !== 'number' || claims.exp <= seconds) throw unauthorized('bearer token has expired')
  if (typeof claims.nbf === 'number' && claims.nbf > seconds + notBeforeLeewaySeconds) {
    throw unauthorized('bearer token is not good yet')
  }
  return claims
}

async function requireSignature(
  token: string,
  keys: ProviderKeys,
  { signingAlgs: algorithms }: OidcOptions,
  signal: AbortSignal,
): Promise<void> {
  const header = headerOf(token)
  if (header.alg === undefined || !algorithms.includes(header.alg)) {
    throw unauthorized(
      `bearer token is signed with ${JSON.stringify(header.alg)}, which is not among --oidc-signing-algs`,
    )
  }
  const [, payload = '', signature = ''] = token.split('.')
  const jws = { payload, signature, header }
  const allowed = { algorithms: [...algorithms] }
  // A provider may have another key under the same id, or under none: only the signature tells.
  if ((await failureOf(token, await keys.known(header, jws), allowed)) === undefined) return
  const failure = await failureOf(token, await keys.asked(header, jws, signal), allowed)
  if (failure !== undefined) throw unauthorized(`bearer token's signature is not good: ${errorText(failure)}`)
}

/** Undefined when one of the keys has signed the token. */
async function failureOf(
  token: string,
  keys: readonly CryptoKey[],
  options: { readonly algorithms: string[] },
): Promise<unknown> {
  const failures: unknown[] = []
  for (const key of keys) {
    try {
      await compactVerify(token, key, options)
      return undefined
    } catch (thrown) {
      failures.push(thrown)
    }
  }
  return failures[0] ?? new Error('no key fits')
}

function headerOf(token: string): ReturnType<typeof decodeProtectedHeader> {
  try {
    return decodeProtectedHeader(token)
  } catch (thrown) {
    throw unauthorized(`bearer token's header cannot be read: ${errorText(thrown)}`)
  }
}

function userOf(claims: JWTPayload, options: OidcOptions): UserInfo {
  for (const [claim, value] of options.requiredClaims) {
    if (claims[claim] !== value) throw unauthorized(`bearer token's claim ${claim} is not what it has to be`)
  }
  const user = { name: nameOf(claims, options), groups: groupsOf(claims, options), extra: {} }
  const taken = [user.name, ...user.groups].find(name => reserved.some(prefix => name.startsWith(prefix)))
  if (taken !== undefined) throw unauthorized(`bearer token is of ${taken}, which no provider may name`)
  return user
}

function nameOf(claims: JWTPayload, { usernameClaim, usernamePrefix, issuer }: OidcOptions): string {
  const name = claims[usernameClaim]
  if (typeof name !== 'string' || name === '')
    throw unauthorized(`bearer token has no claim ${usernameClaim}`)
  // A provider that does not say whether it has verified an address is believed, as kube-apiserver does.
  if (usernameClaim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true) {
    throw unauthorized('bearer token is of an email address that is not verified')
  }
  const prefix = usernamePrefix ?? (usernameClaim === 'email' ? '' : `${issuer}#`)
  return prefix === '-' ? name : prefix + name
}

function groupsOf(claims: JWTPayload, { groupsClaim, groupsPrefix }: OidcOptions): readonly string[] {
  const claim = groupsClaim === undefined ? undefined : claims[groupsClaim]
  if (claim === undefined || claim === null) return []
  const groups: unknown = typeof claim === 'string' ? [claim] : claim
  if (!Array.isArray(groups) || !groups.every(group => typeof group === 'string')) {
    throw unauthorized(`bearer token's claim ${groupsClaim} is no list of groups`)
  }
  return groups.map(group => groupsPrefix + group)
}
