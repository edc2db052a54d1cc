import type { Authorizer } from '../contract.ts'

/** Asks in turn; the first that allows or denies decides. The reasons of those without an opinion are kept. */
export function authorizersInTurn(authorizers: readonly Authorizer[]): Authorizer {
  return {
    async authorize(attributes, signal) {
      const reasons: string[] = []
      for (const authorizer of authorizers) {
        const decision = await authorizer.authorize(attributes, signal)
        if (decision.allowed !== 'noOpinion') return decision
        if (decision.reason !== '') reasons.push(decision.reason)
      }
      return { allowed: 'noOpinion', reason: reasons.join('\n') }
    },
    onChange(listener) {
      const stops = authorizers.map(authorizer => authorizer.onChange?.(listener))
      return () => {
        for (const stop of stops) stop?.()
      }
    },
  }
}
