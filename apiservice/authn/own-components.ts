import type { Authenticator } from '../contract.ts'

/** Marks whom it knows as parts of the server itself. `certificates` knows clients of the server's own authority alone. */
export function ownComponents(certificates: Authenticator): Authenticator {
  return {
    authenticate: async (request, signal) => {
      const user = await certificates.authenticate(request, signal)
      return user === undefined ? undefined : { ...user, isComponent: true }
    },
  }
}
