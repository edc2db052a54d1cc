import { X509Certificate } from 'node:crypto'
import { extensionsOf, pathLengthOf } from './der.ts'

/** What a chain of certificates proves: who its leaf is, from when until when. Milliseconds since the epoch. */
export type VerifiedChain = { readonly notBeforeMs: number; readonly notAfterMs: number }

/** Beyond this nobody builds chains, and a client could make us verify signatures for ever. */
const maxIntermediates = 8
const maxSignatureChecks = 32

/** Extended key usages: TLS client authentication, and any. */
const clientUsages: readonly string[] = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0']

const basicConstraints = '551d13'
/** basicConstraints, keyUsage, extKeyUsage, subjectAltName: what `ca`, `checkIssued` and we look at, or may ignore. */
const understood: readonly string[] = [basicConstraints, '551d0f', '551d25', '551d11']

type Search = {
  readonly intermediates: readonly X509Certificate[]
  readonly anchors: readonly X509Certificate[]
  readonly nowMs: number
  checksLeft: number
}

/**
 * Verifies a certificate for use by a TLS client against trust anchors (RFC 5280 section 6): signatures, validity of
 * every link, authorities that may sign and how deep, critical extensions, extended key usage. The leaf must name client
 * authentication. Throws an Error that says what is wrong.
 */
export function verifyChain(
  sent: readonly Buffer[],
  anchors: readonly X509Certificate[],
  nowMs: number,
): VerifiedChain & { readonly leaf: X509Certificate } {
  if (sent.length > maxIntermediates + 1) throw new Error('too many certificates')
  const [leaf, ...intermediates] = sent.map(der => new X509Certificate(der))
  if (leaf === undefined) throw new Error('no certificate')
  checkValid(leaf, nowMs)
  checkExtensions(leaf)
  if (!hasClientUsage(leaf)) throw new Error('not a certificate for client authentication')
  const chain = pathFrom(leaf, 0, { intermediates, anchors, nowMs, checksLeft: maxSignatureChecks })
  if (chain === undefined) throw new Error('signed by an unknown authority')
  return {
    leaf,
    notBeforeMs: Math.max(...[leaf, ...chain].map(link => link.validFromDate.getTime())),
    notAfterMs: Math.min(...[leaf, ...chain].map(link => link.validToDate.getTime())),
  }
}

function checkValid(certificate: X509Certificate, nowMs: number): void {
  if (nowMs < certificate.validFromDate.getTime()) throw new Error('certificate is not valid yet')
  if (nowMs > certificate.validToDate.getTime()) throw new Error('certificate has expired')
}

function checkExtensions(certificate: X509Certificate): void {
  for (const [oid, extension] of extensionsOf(certificate.raw)) {
    if (extension.critical && !understood.includes(oid)) throw new Error('unknown critical extension')
  }
}

function hasClientUsage(certificate: X509Certificate): boolean {
  return extendedUsagesOf(certificate)?.some(usage => clientUsages.includes(usage)) ?? false
}

function extendedUsagesOf(certificate: X509Certificate): readonly string[] | undefined {
  // Absent when the certificate has no such extension, whatever the type says; the property is named after another.
  return certificate.keyUsage as readonly string[] | undefined
}

/** The authorities above `certificate`, an anchor last; `below` of them stand under it already. */
function pathFrom(
  certificate: X509Certificate,
  below: number,
  search: Search,
): readonly X509Certificate[] | undefined {
  const anchor = search.anchors.find(candidate => signs(candidate, certificate, below, search))
  if (anchor !== undefined) return [anchor]
  if (below >= search.intermediates.length) return undefined
  for (const candidate of search.intermediates) {
    const path = signs(candidate, certificate, below, search)
      ? pathFrom(candidate, below + 1, search)
      : undefined
    if (path !== undefined) return [candidate, ...path]
  }
  return undefined
}

function signs(
  authority: X509Certificate,
  certificate: X509Certificate,
  below: number,
  search: Search,
): boolean {
  // checkIssued compares names, key identifiers and the authority's right to sign; only then a signature is worth it.
  if (!authority.ca || !certificate.checkIssued(authority)) return false
  if (!mayStandAbove(authority, below, search.nowMs)) return false
  if (/md[245]|sha1\b/i.test(certificate.signatureAlgorithm ?? '')) return false
  if (search.checksLeft-- <= 0) throw new Error('too many possible chains')
  return certificate.verify(authority.publicKey)
}

function mayStandAbove(authority: X509Certificate, below: number, nowMs: number): boolean {
  if (nowMs < authority.validFromDate.getTime() || nowMs > authority.validToDate.getTime()) return false
  if (extendedUsagesOf(authority) !== undefined && !hasClientUsage(authority)) return false
  const extensions = extensionsOf(authority.raw)
  if ([...extensions].some(([oid, { critical }]) => critical && !understood.includes(oid))) return false
  const constraints = extensions.get(basicConstraints)
  return constraints === undefined || below <= pathLengthOf(constraints.value)
}
