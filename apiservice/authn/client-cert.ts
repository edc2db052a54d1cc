import type { X509Certificate } from 'node:crypto'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { Authenticator, UserInfo } from '../contract.ts'
import { CertificateTrust, commonNameOf, subjectOf } from './certificate-trust.ts'

export type ClientCertOptions = {
  /** PEM certificates of the authorities that vouch for users; read at every request, so it may change at any time. */
  readonly caBundle: () => string
  readonly clock: Clock
  readonly log: Logger
}

/** Kubernetes reads a user's uid from this attribute of the subject (1.33). */
const uidAttribute = '1.3.6.1.4.1.57683.2'
const credentialId = 'authentication.kubernetes.io/credential-id'

/**
 * Users by client certificate, as kube-apiserver's x509 authenticator: the common name is the user, each organization a
 * group.
 */
export function clientCertAuthenticator(options: ClientCertOptions): Authenticator {
  const trust = new CertificateTrust({ ...options, read: userOf })
  return { authenticate: request => trust.verify(request.peer.certificates) }
}

function userOf(leaf: X509Certificate, fingerprint: string): UserInfo {
  const subject = subjectOf(leaf)
  const uid = [subject[uidAttribute] ?? []].flat()[0]
  return {
    name: commonNameOf(leaf),
    ...(uid === undefined ? {} : { uid }),
    groups: [subject.O ?? []].flat(),
    extra: { [credentialId]: [`X509SHA256=${fingerprint}`] },
  }
}
