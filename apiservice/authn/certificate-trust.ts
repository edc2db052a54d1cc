import { hash, X509Certificate } from 'node:crypto'
import { errorText } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { unauthorized } from '../../src/kernel/errors.ts'
import type { Logger } from '../../src/kernel/log.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
import { verifyChain } from './certificate-chain.ts'

export type TrustOptions<T> = {
  /** PEM certificates of the authorities; read at every request, so it may change at any time. */
  readonly caBundle: () => string
  /** What a verified certificate stands for. Throws an Error when it is not good for that. */
  readonly read: (leaf: X509Certificate, fingerprint: string) => T
  readonly clock: Clock
  readonly log: Logger
}

type Verified<T> = { readonly value: T; readonly notBeforeMs: number; readonly notAfterMs: number }

const maxVerified = 4096

/**
 * Authorities, and whom they have vouched for. TLS has not verified what a client sent; it is verified here, against
 * these authorities alone. The bundle must parse when this is made; one that later does not is logged and the last good
 * one stays in force.
 */
export class CertificateTrust<T> {
  readonly #options: TrustOptions<T>
  readonly #verified = new Map<string, Verified<T>>()
  #bundle: string
  #anchors: readonly X509Certificate[]

  constructor(options: TrustOptions<T>) {
    this.#options = options
    this.#bundle = options.caBundle()
    this.#anchors = certificatesOf(this.#bundle)
  }

  /** `sent`: leaf first. Undefined when nothing was sent or nobody is trusted; throws 401 for what is not good. */
  verify(sent: readonly Buffer[]): T | undefined {
    const [leaf] = sent
    const anchors = this.#currentAnchors()
    if (leaf === undefined || anchors.length === 0) return undefined
    const fingerprint = fingerprintOf(leaf)
    const nowMs = this.#options.clock.now()
    const known = this.#verified.get(fingerprint)
    if (known !== undefined && known.notBeforeMs <= nowMs && nowMs <= known.notAfterMs) return known.value
    this.#verified.delete(fingerprint)
    const verified = this.#verify(sent, fingerprint, nowMs)
    if (this.#verified.size >= maxVerified) this.#forgetOldest()
    this.#verified.set(fingerprint, verified)
    return verified.value
  }

  #currentAnchors(): readonly X509Certificate[] {
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

  /** All requests of a connection come with the same bytes. */
  #verify(sent: readonly Buffer[], fingerprint: string, nowMs: number): Verified<T> {
    try {
      const { leaf, notBeforeMs, notAfterMs } = verifyChain(sent, this.#anchors, nowMs)
      return { value: this.#options.read(leaf, fingerprint), notBeforeMs, notAfterMs }
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

/** Every certificate of a PEM text. Throws when one cannot be read, or when there is text and none in it. */
export function certificatesOf(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0 && pem.trim() !== '') throw new Error('no PEM certificate in the client CA bundle')
  return blocks.map(block => new X509Certificate(block))
}

/** The common name of the subject; of several the last one, as Go reads them. Throws when there is none. */
export function commonNameOf(leaf: X509Certificate): string {
  const name = [subjectOf(leaf).CN ?? []].flat().at(-1) ?? ''
  if (name === '') throw new Error('the subject has no common name')
  return name
}

/** The printed subject escapes what would make it ambiguous; the object has each attribute's value as it is. */
export function subjectOf(
  leaf: X509Certificate,
): Readonly<Record<string, string | readonly string[] | undefined>> {
  return { ...leaf.toLegacyObject().subject }
}

const fingerprintOf = madeOnce((leaf: Buffer) => hash('sha256', leaf, 'hex'))
