import { webcrypto } from 'node:crypto'
import 'reflect-metadata'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
type Keys = Awaited<ReturnType<typeof webcrypto.subtle.generateKey>> & webcrypto.CryptoKeyPair
const clientAuth = '1.3.6.1.5.5.7.3.2'

export type Issued = {
  readonly subject: readonly { readonly [attribute: string]: string[] }[]
  readonly keys: webcrypto.CryptoKeyPair
  readonly der: Buffer
  readonly pem: string
}

export type CertificateOptions = {
  /** Attributes by their short names or object identifiers, in order: `[{ CN: ['ada'] }]`. */
  readonly subject: Issued['subject']
  /** Itself when absent. */
  readonly issuer?: Issued
  /** Another key than the issuer's signs: the issuer is only claimed. */
  readonly signedBy?: webcrypto.CryptoKeyPair
  readonly notBefore?: string
  readonly notAfter?: string
  /** Absent: no extended key usage. */
  readonly usages?: readonly string[]
  readonly ca?: boolean
  readonly pathLength?: number
  /** Without: a CA that lacks keyCertSign. */
  readonly maySign?: boolean
  readonly extensions?: readonly Extension[]
}

export async function aKeyPair(): Promise<webcrypto.CryptoKeyPair> {
  const keys: Keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  return keys
}

/** Any certificate, good or evil; valid through 2026 unless told. */
export async function aCertificate(options: CertificateOptions): Promise<Issued> {
  const keys = await aKeyPair()
  const issuer = options.issuer ?? { subject: options.subject, keys }
  const usage =
    options.ca === true && options.maySign !== false
      ? KeyUsageFlags.keyCertSign
      : KeyUsageFlags.digitalSignature
  const certificate = await X509CertificateGenerator.create({
    serialNumber: '01',
    subject: [...options.subject],
    issuer: [...issuer.subject],
    notBefore: new Date(options.notBefore ?? '2026-01-01T00:00:00Z'),
    notAfter: new Date(options.notAfter ?? '2026-12-31T00:00:00Z'),
    publicKey: keys.publicKey,
    signingKey: (options.signedBy ?? issuer.keys).privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(options.ca ?? false, options.pathLength, true),
      new KeyUsagesExtension(usage, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey),
      ...(options.usages === undefined ? [] : [new ExtendedKeyUsageExtension([...options.usages])]),
      ...(options.extensions ?? []),
    ],
  })
  return {
    subject: options.subject,
    keys,
    der: Buffer.from(certificate.rawData),
    pem: certificate.toString('pem'),
  }
}

export function aCertificateAuthority(
  name: string,
  options: Partial<CertificateOptions> = {},
): Promise<Issued> {
  return aCertificate({ subject: [{ CN: [name] }], ca: true, ...options })
}

/** A user's certificate with each group as an organization. */
export function aClientCertificate(
  issuer: Issued,
  user: string,
  groups: readonly string[] = [],
  options: Partial<CertificateOptions> = {},
): Promise<Issued> {
  return aCertificate({
    subject: [...groups.map(group => ({ O: [group] })), { CN: [user] }],
    issuer,
    usages: [clientAuth],
    ...options,
  })
}

export function aCriticalExtension(oid: string): Extension {
  return new Extension(oid, true, new Uint8Array([0x05, 0x00]))
}
