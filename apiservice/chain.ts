/**
 * The order of a request, from the outside in. A stage feels what comes below it and nothing of what stands above:
 *
 *     render → drain → deadline → authn → audit → impersonation → fairness → authz → ┬ health, metrics, discovery
 *                                                                                    └ acceptable → registry
 */
import { noSuchPath } from '../src/kernel/errors.ts'
import type { ApiRequest, Handler, Reply, Responder, Stage } from './contract.ts'

export type ChainParts = {
  readonly render: (next: Handler) => Responder
  readonly refuseWhenDraining: Stage
  readonly deadline: Stage
  readonly authenticate: Stage
  readonly auditStrangers: Stage
  readonly audit: Stage
  readonly auditImpersonated: Stage
  readonly impersonate: Stage
  readonly fairness: Stage
  readonly authorize: Stage
  readonly requireAcceptable: Stage
  /** Everything that is no resource: each answers its own paths and leaves the others. */
  readonly nonResources: readonly NonResource[]
  readonly resources: Handler
}

/** Undefined: the path is somebody else's. */
export type NonResource = (request: ApiRequest, signal: AbortSignal) => Reply | Promise<Reply> | undefined

export function makeChain(parts: ChainParts): Responder {
  // Whatever is thrown below becomes a Status in the client's format: nothing may stand above this one.
  return parts.render(
    // Refusals that cost nothing come before anything that waits.
    parts.refuseWhenDraining(
      // A bad ?timeout= is told before anybody asks who sends it; the time spent in authn and authz counts.
      parts.deadline(parts.auditStrangers(parts.authenticate(parts.audit(known(parts))))),
    ),
  )
}

function known(parts: ChainParts): Handler {
  // Who may impersonate is decided for the user who is really there, all below for the one impersonated.
  return parts.impersonate(
    parts.auditImpersonated(
      // Needs to know the user: each waits for himself, and system:masters must reach an overloaded server.
      parts.fairness(
        // 401 before 403 before 404: strangers do not learn what exists, and no body of theirs is read.
        parts.authorize(byPath(parts)),
      ),
    ),
  )
}

function byPath(parts: ChainParts): Handler {
  // 406 before the work: nothing is written for a client that cannot read the answer.
  const resources = parts.requireAcceptable(parts.resources)
  return (request, signal) => {
    if (request.info.isResource) return resources(request, signal)
    for (const answer of parts.nonResources) {
      const reply = answer(request, signal)
      if (reply !== undefined) return reply
    }
    throw noSuchPath()
  }
}
