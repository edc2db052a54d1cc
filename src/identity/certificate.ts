/**
 * Authorities, certificates and requests: ECDSA on P-256 with SHA-256, all as PEM. The library that makes them is
 * loaded when the first one is made: a server that finds its certificates good never pays for it.
 */
import { createPrivateKey, createPublicKey, hash, randomBytes, webcrypto, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Clock } from '../kernel/clock.ts'

/** A certificate with its key, both PEM. The key of an authority signs. */
export type Identity = { readonly certificate: string; readonly key: string }

export type Lifetime = {
  readonly clock: Clock
  /** Counted from now; the certificate is also good for an hour before now, for clocks that are behind. */
  readonly lifetimeMs: number
}

/** Who a client certificate speaks for, as kube-apiserver reads it: the common name and each organization. */
export type ClientSubject = { readonly user: string; readonly groups: readonly string[] }

/** What a certificate says, without trusting it. */
export type CertificateFacts = {
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** Of the DER, in lower-case hex. */
  readonly sha256: string
  readonly subject: string
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const backdatedMs = 3_600_000
const serverAuth = '1.3.6.1.5.5.7.3.1'
const clientAuth = '1.3.6.1.5.5.7.3.2'

async function library(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

/** A self-signed authority that may issue certificates of end entities only. */
export async function makeAuthority(name: string, lifetime: Lifetime): Promise<Identity> {
  const x509 = await library()
  const keys = await newKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(lifetime),
    serialNumber: newSerial(),
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: `${certificate.toString('pem')}\n`, key: await privatePem(keys.privateKey) }
}

/** A certificate of a server that answers under `names`: host names and addresses. */
export async function issueServing(
  authority: Identity,
  names: readonly [string, ...string[]],
  lifetime: Lifetime,
): Promise<Identity> {
  const x509 = await library()
  const keys = await newKeys()
  const alternative = names.map(value => ({
    type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const),
    value,
  }))
  const certificate = await issue(authority, {
    subject: [{ CN: [names[0]] }],
    publicKey: keys.publicKey,
    usage: serverAuth,
    extensions: [new x509.SubjectAlternativeNameExtension(alternative)],
    lifetime,
  })
  return { certificate, key: await privatePem(keys.privateKey) }
}

/** A certificate and a new key for a client. */
export async function issueClient(
  authority: Identity,
  subject: ClientSubject,
  lifetime: Lifetime,
): Promise<Identity> {
  const keys = await newKeys()
  const certificate = await issue(authority, {
    subject: nameOf(subject),
    publicKey: keys.publicKey,
    usage: clientAuth,
    lifetime,
  })
  return { certificate, key: await privatePem(keys.privateKey) }
}

/** A new private key, PEM. */
export async function makeKey(): Promise<string> {
  return privatePem((await newKeys()).privateKey)
}

/** A request to an authority elsewhere to sign this key; the key itself is not in it. */
export async function makeRequest(key: string): Promise<string> {
  const x509 = await library()
  const privateKey = createPrivateKey(key)
  const publicDer = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  const keys = {
    privateKey: await signingKey(key),
    publicKey: await webcrypto.subtle.importKey('spki', publicDer, algorithm, true, ['verify']),
  }
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: ['isthmus'] }],
    keys,
    signingAlgorithm: algorithm,
  })
  return `${request.toString('pem')}\n`
}

/** Whether a certificate is for this key, both PEM. False when either cannot be read. */
export function matches({ certificate, key }: Identity): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
  } catch {
    // Text that is no certificate or key belongs to nothing.
    return false
  }
}

/** A request that was read: its key, proven to be the sender's. */
export type VerifiedRequest = {
  readonly publicKey: CryptoKey
  /** SHA-256 of the public key (SubjectPublicKeyInfo), in lower-case hex. */
  readonly keySha256: string
}

/** Undefined unless `pem` is one PKCS#10 request for a P-256 key, signed with that key. */
export async function verifyRequest(pem: string): Promise<VerifiedRequest | undefined> {
  const x509 = await library()
  if (pem.length > maxRequestLength) return undefined
  try {
    const request = new x509.Pkcs10CertificateRequest(pem)
    const publicKey = await request.publicKey.export({ name: 'ECDSA', namedCurve: 'P-256' }, ['verify'])
    if (!(await request.verify())) return undefined
    return { publicKey, keySha256: hash('sha256', Buffer.from(request.publicKey.rawData)) }
  } catch {
    // Whatever the parser says of bytes from outside comes down to: this is no such request.
    return undefined
  }
}

const maxRequestLength = 16_384

/** A certificate for the key of a request. Nothing but its key is taken from the request. */
export function signRequest(
  authority: Identity,
  request: VerifiedRequest,
  subject: ClientSubject,
  lifetime: Lifetime,
): Promise<string> {
  return issue(authority, {
    subject: nameOf(subject),
    publicKey: request.publicKey,
    usage: clientAuth,
    lifetime,
  })
}

/** Throws when `pem` is no certificate. Of several only the first is read. */
export function readCertificate(pem: string): CertificateFacts {
  const certificate = new X509Certificate(pem)
  return {
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
    sha256: hash('sha256', certificate.raw),
    subject: certificate.subject,
  }
}

type Issue = {
  readonly subject: { readonly [attribute: string]: string[] }[]
  readonly publicKey: CryptoKey
  readonly usage: string
  readonly extensions?: readonly import('@peculiar/x509').Extension[]
  readonly lifetime: Lifetime
}

async function issue(authority: Identity, wanted: Issue): Promise<string> {
  const x509 = await library()
  const issuer = new x509.X509Certificate(authority.certificate)
  const { notBefore, notAfter } = validity(wanted.lifetime)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    notBefore,
    notAfter: new Date(Math.min(notAfter.getTime(), issuer.notAfter.getTime())),
    subject: wanted.subject,
    issuer: issuer.subjectName,
    publicKey: wanted.publicKey,
    signingKey: await signingKey(authority.key),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([wanted.usage]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...(wanted.extensions ?? []),
    ],
  })
  return `${certificate.toString('pem')}\n`
}

function nameOf({ user, groups }: ClientSubject): { readonly [attribute: string]: string[] }[] {
  return [...groups.map(group => ({ O: [group] })), { CN: [user] }]
}

function validity({ clock, lifetimeMs }: Lifetime): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(clock.now() - backdatedMs), notAfter: new Date(clock.now() + lifetimeMs) }
}

/** 127 random bits (RFC 5280 §4.1.2.2: positive, at most 20 octets). */
function newSerial(): string {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes.toString('hex')
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key))
  const text = der.toString('base64').replace(/.{64}(?!$)/g, '$&\n')
  return `-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`
}

function signingKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64')
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign'])
}
