/**
 * Finds out who sends a request. Owns the order of the methods, promises that what comes below sees a user with its
 * standing group and no header that is a credential, refuses whoever presented a credential that is not good: such a
 * client is never anonymous.
 */
import { errorText } from '../../src/kernel/abort.ts'
import { isReason, unauthorized } from '../../src/kernel/errors.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { Metrics } from '../../src/kernel/metrics.ts'
import { andThen } from '../../src/kernel/when-settled.ts'
import type { ApiRequest, Authenticator, Reply, Stage, UserInfo } from '../contract.ts'
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
  const noted = (thrown: unknown, { peer }: ApiRequest): unknown => {
    if (isReason(thrown, 'Unauthorized')) {
      refused.add()
      // The client learns nothing of this, so nobody else tells it.
      options.log.debug('client refused', { address: peer.address, why: errorText(thrown.cause) })
    }
    return thrown
  }
  const standing = (user: UserInfo | undefined): UserInfo => {
    if (user !== undefined) return withStandingGroup(user)
    if (options.anonymous) return anonymousUser
    throw unauthorized('no credentials')
  }
  const whoSends = (request: ApiRequest, signal: AbortSignal): UserInfo | Promise<UserInfo> => {
    const fail = (thrown: unknown): never => {
      throw noted(thrown, request)
    }
    try {
      const asked = new Asking(authenticators, request, signal).ask()
      return asked instanceof Promise ? asked.then(standing).catch(fail) : standing(asked)
    } catch (thrown) {
      return fail(thrown)
    }
  }
  return next => (request, signal) => {
    const goOn = (user: UserInfo): Reply | Promise<Reply> =>
      next(withoutCredentials(withUser(request, user), authenticators), signal)
    const user = whoSends(request, signal)
    return andThen(user, goOn)
  }
}

/** Most clients show who they are by their certificate. */
function withoutCredentials(request: ApiRequest, authenticators: readonly Authenticator[]): ApiRequest {
  let headers: Map<string, readonly string[]> | undefined
  for (const header of request.headers.keys()) {
    if (!authenticators.some(one => one.isCredential?.(header))) continue
    headers ??= new Map(request.headers)
    headers.delete(header)
  }
  return headers === undefined ? request : { ...request, headers }
}

/** One request. Nothing is waited for while the answers come at once, as most do. */
class Asking {
  readonly #authenticators: readonly Authenticator[]
  readonly #request: ApiRequest
  readonly #signal: AbortSignal
  readonly #failures: unknown[] = []
  #asked = 0

  constructor(authenticators: readonly Authenticator[], request: ApiRequest, signal: AbortSignal) {
    this.#authenticators = authenticators
    this.#request = request
    this.#signal = signal
  }

  ask(): UserInfo | undefined | Promise<UserInfo | undefined> {
    for (;;) {
      const authenticator = this.#authenticators[this.#asked++]
      if (authenticator === undefined) return this.#nobody()
      const answer = this.#answerOf(authenticator)
      if (answer instanceof Promise) {
        return answer.catch((thrown: unknown) => this.#failed(thrown)).then(user => user ?? this.ask())
      }
      if (answer !== undefined) return answer
    }
  }

  #answerOf(authenticator: Authenticator): ReturnType<Authenticator['authenticate']> {
    try {
      return authenticator.authenticate(this.#request, this.#signal)
    } catch (thrown) {
      return this.#failed(thrown)
    }
  }

  #failed(thrown: unknown): undefined {
    if (this.#signal.aborted) throw thrown
    this.#failures.push(thrown)
  }

  #nobody(): undefined {
    const failures = this.#failures
    if (failures.length === 0) return
    // A fault of ours says more than a 401: the client shall try again, not look for other credentials.
    throw failures.find(failure => !isReason(failure, 'Unauthorized')) ?? failures[0]
  }
}
