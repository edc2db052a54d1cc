import { hash, X509Certificate } from 'node:crypto'
import { errorText } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { unauthorized } from '../../src/kernel/errors.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { Authenticator, UserInfo } from '../contract.ts'
import { verifyChain } from './certificate-chain.ts'

export type ClientCertOptions = {
  /** PEM certificates of the authorities that vouch for users; read at every request, so it may change at any time. */
  readonly caBundle: () => string
  readonly clock: Clock
  readonly log: Logger
}

/** Kubernetes reads a user's uid from this attribute of the subject (1.33). */
const uidAttribute = '1.3.6.1.4.1.57683.2'
const credentialId = 'authentication.kubernetes.io/credential-id'
const maxVerified = 4096

type Verified = { readonly user: UserInfo; readonly notBeforeMs: number; readonly notAfterMs: number }

/**
 * Users by client certificate, as kube-apiserver's x509 authenticator: the common name is the user, each organization a
 * group. TLS has not verified what the client sent; it is verified here against `caBundle` only. The bundle must parse
 * when this is called; one that later does not is logged and the last good one stays in force.
 */
export function clientCertAuthenticator(options: ClientCertOptions): Authenticator {
  const trust = new Trust(options)
  return {
    authenticate: async request => {
      const [leaf] = request.peer.certificates
      const anchors = trust.anchors()
      if (leaf === undefined || anchors.length === 0) return undefined
      return trust.userOf(leaf, request.peer.certificates)
    },
  }
}

/** The authorities, and who they have vouched for. */
class Trust {
  readonly #options: ClientCertOptions
  readonly #verified = new Map<string, Verified>()
  readonly #fingerprints = new WeakMap<Buffer, string>()
  #bundle: string
  #anchors: readonly X509Certificate[]

  constructor(options: ClientCertOptions) {
    this.#options = options
    this.#bundle = options.caBundle()
    this.#anchors = certificatesOf(this.#bundle)
  }

  anchors(): readonly X509Certificate[] {
    const bundle = this.#options.caBundle()
    if (bundle === this.#bundle) return this.#anchors
    this.#bundle = bundle
    try {
      this.#anchors = certificatesOf(bundle)
      this.#verified.clear()
    } catch (thrown) {
      this.#options.log.error('client CA bundle cannot be read', { error: errorText(thrown) })
    }
    return this.#anchors
  }

  userOf(leaf: Buffer, sent: readonly Buffer[]): UserInfo {
    const fingerprint = this.#fingerprintOf(leaf)
    const nowMs = this.#options.clock.now()
    const known = this.#verified.get(fingerprint)
    if (known !== undefined && known.notBeforeMs <= nowMs && nowMs <= known.notAfterMs) return known.user
    this.#verified.delete(fingerprint)
    const verified = this.#verify(sent, fingerprint, nowMs)
    if (this.#verified.size >= maxVerified) this.#forgetOldest()
    this.#verified.set(fingerprint, verified)
    return verified.user
  }

  /** All requests of a connection come with the same bytes. */
  #fingerprintOf(leaf: Buffer): string {
    const known = this.#fingerprints.get(leaf)
    if (known !== undefined) return known
    const made = hash('sha256', leaf, 'hex')
    this.#fingerprints.set(leaf, made)
    return made
  }

  #verify(sent: readonly Buffer[], fingerprint: string, nowMs: number): Verified {
    try {
      const { leaf, notBeforeMs, notAfterMs } = verifyChain(sent, this.#anchors, nowMs)
      return { user: userOf(leaf, fingerprint), notBeforeMs, notAfterMs }
    } catch (thrown) {
      throw unauthorized(`client certificate: ${errorText(thrown)}`)
    }
  }

  #forgetOldest(): void {
    for (const oldest of this.#verified.keys()) {
      this.#verified.delete(oldest)
      return
    }
  }
}

function certificatesOf(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0 && pem.trim() !== '') throw new Error('no PEM certificate in the client CA bundle')
  return blocks.map(block => new X509Certificate(block))
}

function userOf(leaf: X509Certificate, fingerprint: string): UserInfo {
  // The printed subject escapes what would make it ambiguous; the object has each attribute's value as it is.
  const subject: Readonly<Record<string, string | readonly string[] | undefined>> = {
    ...leaf.toLegacyObject().subject,
  }
  const name = [subject.CN ?? []].flat().at(-1) ?? ''
  if (name === '') throw new Error('the subject has no common name')
  const uid = [subject[uidAttribute] ?? []].flat()[0]
  return {
    name,
    ...(uid === undefined ? {} : { uid }),
    groups: [subject.O ?? []].flat(),
    extra: { [credentialId]: [`X509SHA256=${fingerprint}`] },
  }
}
