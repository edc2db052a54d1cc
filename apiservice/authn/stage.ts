/**
 * Finds out who sends a request. Owns the order of the methods, promises that what comes below sees a user with its
 * standing group and no header that is a credential, refuses whoever presented a credential that is not good: such a
 * client is never anonymous.
 */
import { errorText } from '../../src/kernel/abort.ts'
import { isReason, unauthorized } from '../../src/kernel/errors.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { Metrics } from '../../src/kernel/metrics.ts'
import type { ApiRequest, Authenticator, Stage, UserInfo } from '../contract.ts'
import { anonymousUser, withStandingGroup, withUser } from './user.ts'

export type AuthnOptions = {
  /** Whether a client that presents nothing goes on as `system:anonymous`; otherwise it gets 401. */
  readonly anonymous: boolean
  readonly log: Logger
  readonly metrics: Metrics
}

/** Throws 401; another error of an authenticator (its store cannot be read) goes through when nobody knew the client. */
export function authnStage(authenticators: readonly Authenticator[], options: AuthnOptions): Stage {
  const refused = options.metrics.counter({
    name: 'isthmus_authentication_failures_total',
    help: 'Requests that were refused because nobody knew the client by what it presented.',
  })
  const whoSends = async (request: ApiRequest, signal: AbortSignal): Promise<UserInfo | undefined> => {
    try {
      const user = await authenticate(authenticators, request, signal)
      if (user === undefined && !options.anonymous) throw unauthorized('no credentials')
      return user
    } catch (thrown) {
      if (isReason(thrown, 'Unauthorized')) {
        refused.add()
        // The client learns nothing of this, so nobody else tells it.
        options.log.debug('client refused', { address: request.peer.address, why: errorText(thrown.cause) })
      }
      throw thrown
    }
  }
  return next => async (request, signal) => {
    const user = await whoSends(request, signal)
    const known = withUser(request, user === undefined ? anonymousUser : withStandingGroup(user))
    return next(withoutCredentials(known, authenticators), signal)
  }
}

function withoutCredentials(request: ApiRequest, authenticators: readonly Authenticator[]): ApiRequest {
  const isCredential = (header: string): boolean => authenticators.some(one => one.isCredential?.(header))
  // Most clients show who they are by their certificate.
  if (!request.headers.keys().some(isCredential)) return request
  const headers = [...request.headers].filter(([header]) => !isCredential(header))
  return { ...request, headers: new Map(headers) }
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
