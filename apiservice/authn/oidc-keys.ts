/** The keys of an OpenID provider (OpenID Connect Discovery 1.0), found by its issuer URL. */
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose'
import { isRecord, type JsonRecord } from '../../src/api/record.ts'
import { readText } from '../../src/cluster/body.ts'
import { unlessAborted } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { unauthorized, unavailable } from '../../src/kernel/errors.ts'

export type ProviderOptions = {
  /** `https://…`; what tokens name as `iss`, letter by letter. */
  readonly issuer: string
  /** PEM of the authorities that the provider's certificate may be of; those of the system when undefined. */
  readonly ca: string | undefined
  readonly clock: Clock
}

type KeySet = ReturnType<typeof createLocalJWKSet>

const timeoutMs = 10_000
const maxBytes = 1024 * 1024
/** Tokens that name keys which the provider does not have must not make us ask it more often. */
const restMs = 10_000

export class ProviderKeys {
  readonly #options: ProviderOptions
  #keys: KeySet | undefined
  #askedMs = Number.NEGATIVE_INFINITY
  #asking: Promise<KeySet> | undefined

  constructor(options: ProviderOptions) {
    this.#options = options
  }

  /** The keys that are known and may have signed this. */
  async known(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<readonly CryptoKey[]> {
    return this.#keys === undefined ? [] : fitting(this.#keys, header, token)
  }

  /**
   * The same after the provider was asked, unless it was so a moment ago. Throws 401 when none fits, 503 when the
   * provider cannot be asked.
   */
  async asked(
    header: JWSHeaderParameters,
    token: FlattenedJWSInput,
    signal: AbortSignal,
  ): Promise<readonly CryptoKey[]> {
    const found = await fitting(await unlessAborted(this.#ask(), signal), header, token)
    if (found.length === 0)
      throw unauthorized('bearer token is signed by a key that its issuer does not have')
    return found
  }

  #ask(): Promise<KeySet> {
    const { clock } = this.#options
    if (this.#asking !== undefined) return this.#asking
    if (this.#keys !== undefined && clock.now() - this.#askedMs < restMs) return Promise.resolve(this.#keys)
    this.#askedMs = clock.now()
    this.#asking = this.#fetch().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #fetch(): Promise<KeySet> {
    const { issuer } = this.#options
    try {
      const about = await this.#document(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
      if (about.issuer !== issuer) throw new Error(`it calls itself ${JSON.stringify(about.issuer)}`)
      if (typeof about.jwks_uri !== 'string') throw new Error('it names no jwks_uri')
      const set = await this.#document(about.jwks_uri)
      // Throws when it is no set of keys.
      this.#keys = createLocalJWKSet(set as unknown as JSONWebKeySet)
      return this.#keys
    } catch (thrown) {
      throw unavailable(`the OpenID provider ${issuer} cannot be asked for its keys`, 1, thrown)
    }
  }

  #document(url: string): Promise<JsonRecord> {
    return fetchDocument(url, this.#options.ca)
  }
}

async function fitting(
  keys: KeySet,
  header: JWSHeaderParameters,
  token: FlattenedJWSInput,
): Promise<readonly CryptoKey[]> {
  try {
    return [await keys(header, token)]
  } catch (thrown) {
    if (thrown instanceof errors.JWKSMultipleMatchingKeys) return Array.fromAsync(thrown)
    return []
  }
}

async function fetchDocument(url: string, ca: string | undefined): Promise<JsonRecord> {
  const options = { ...(ca === undefined ? {} : { ca }), signal: AbortSignal.timeout(timeoutMs) }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, options, resolve).on('error', reject)
  })
  const text = await readText(answer, maxBytes)
  if (answer.statusCode !== 200) throw new Error(`${url} answers ${answer.statusCode}`)
  const document: unknown = JSON.parse(text)
  if (!isRecord(document)) throw new Error(`${url} answers no JSON object`)
  return document
}
