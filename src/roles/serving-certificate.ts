/** The certificate that a server shows: one that it makes and renews by itself. */
import { type Identity, readCertificate } from '../identity/certificate.ts'
import { renewInTime } from '../identity/renewal.ts'
import type { ServerIdentity } from '../identity/server-identity.ts'
import { background } from '../kernel/abort.ts'
import type { Context } from './context.ts'

export type ServingCertificate = {
  current(): Identity
  /** Replaces it in time, until the signal of the context aborts, and tells when it has. */
  follow(changed: () => void, context: Context): void
}

/** Renewed before it expires. `name` is for the log. */
export function ownCertificate(identity: ServerIdentity, name: string): ServingCertificate {
  return {
    current: () => identity.serving,
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
