/** The certificate that a server shows: one that it makes and renews by itself, or one that others put into files. */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Identity, matches, readCertificate } from '../identity/certificate.ts'
import { renewInTime } from '../identity/renewal.ts'
import type { ServerIdentity } from '../identity/server-identity.ts'
import { background, errorText } from '../kernel/abort.ts'
import { every } from '../kernel/work-queue.ts'
import type { Context } from './context.ts'

export type ServingCertificate = {
  current(): Identity
  /** PEM of what clients have to trust. */
  trusted(): string
  /** Under which it is known; absent when it names every address of the server. */
  readonly serverName?: string
  /** Replaces it in time, until the signal of the context aborts, and tells when it has. */
  follow(changed: () => void, context: Context): void
}

/** Renewed before it expires. `name` is for the log. */
export function ownCertificate(identity: ServerIdentity, name: string): ServingCertificate {
  return {
    current: () => identity.serving,
    trusted: () => identity.caBundle,
    follow(changed, { clock, log, signal }) {
      const renewal = {
        name: `${name} serving`,
        current: () => readCertificate(identity.serving.certificate),
        renew: async () => {
          await identity.renewServing()
          changed()
        },
        clock,
        log,
      }
      background('renew serving certificate', log, signal, () => renewInTime(renewal, signal))
    },
  }
}

export type CertificateFiles = {
  readonly certificate: string
  readonly key: string
  /** What the certificate must be good for. */
  readonly serverName: string
}

/** Files are replaced by links (Secrets) and in two steps: asking often is surer than being told. */
const rereadMs = 5_000

/** Read again all the time; throws an `Error` with one sentence when the files are of no use now. */
export function certificateFromFiles(files: CertificateFiles): ServingCertificate {
  let current = readFiles(files)
  return {
    current: () => current,
    trusted: () => current.certificate,
    serverName: files.serverName,
    follow(changed, { clock, log, signal }) {
      const reread = { name: 'read serving certificate', firstMs: rereadMs, intervalMs: rereadMs, clock, log }
      let refused = ''
      const look = async (): Promise<void> => {
        try {
          const read = readFiles(files)
          refused = ''
          if (read.certificate === current.certificate && read.key === current.key) return
          current = read
          changed()
          const { notAfterMs } = readCertificate(read.certificate)
          log.info('serving certificate replaced', { expires: new Date(notAfterMs).toISOString() })
        } catch (thrown) {
          // The old one is shown until both files fit again; told once.
          if (errorText(thrown) !== refused)
            log.warn('serving certificate not replaced', { error: errorText(thrown) })
          refused = errorText(thrown)
        }
      }
      background(reread.name, log, signal, () => every(reread, look, signal))
    },
  }
}

function readFiles({ certificate: path, key, serverName }: CertificateFiles): Identity {
  const read = { certificate: textOf(path), key: textOf(key) }
  if (!matches(read)) throw new Error(`${path} holds no certificate for the key in ${key}`)
  if (new X509Certificate(read.certificate).checkHost(serverName) === undefined) {
    throw new Error(
      `the certificate in ${path} is not for ${serverName}, under which kube-apiserver looks for it`,
    )
  }
  return read
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`${path} cannot be read: ${errorText(cause)}`, { cause })
  }
}
