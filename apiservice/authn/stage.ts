/**
 * Finds out who sends a request. Owns the order of the methods, promises that what comes below sees a user with its
 * standing group, refuses whoever presented a credential that is not good: such a client is never anonymous.
 */
import { isReason, unauthorized } from '../../src/kernel/errors.ts'
import type { ApiRequest, Authenticator, Stage, UserInfo } from '../contract.ts'
import { anonymousUser, withStandingGroup, withUser } from './user.ts'

export type AuthnOptions = {
  /** Whether a client that presents nothing goes on as `system:anonymous`; otherwise it gets 401. */
  readonly anonymous: boolean
}

/** Throws 401; another error of an authenticator (its store cannot be read) goes through when nobody knew the client. */
export function authnStage(authenticators: readonly Authenticator[], options: AuthnOptions): Stage {
  return next => async (request, signal) => {
    const user = await authenticate(authenticators, request, signal)
    if (user === undefined && !options.anonymous) throw unauthorized('no credentials')
    return next(withUser(request, user === undefined ? anonymousUser : withStandingGroup(user)), signal)
  }
}

async function authenticate(
  authenticators: readonly Authenticator[],
  request: ApiRequest,
  signal: AbortSignal,
): Promise<UserInfo | undefined> {
  const failures: unknown[] = []
  for (const authenticator of authenticators) {
    try {
      const user = await authenticator.authenticate(request, signal)
      if (user !== undefined) return user
    } catch (thrown) {
      if (signal.aborted) throw thrown
      failures.push(thrown)
    }
  }
  if (failures.length === 0) return undefined
  // A fault of ours says more than a 401: the client shall try again, not look for other credentials.
  throw failures.find(failure => !isReason(failure, 'Unauthorized')) ?? failures[0]
}
