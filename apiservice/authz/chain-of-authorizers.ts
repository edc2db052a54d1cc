import type { Attributes, Authorizer, Decision } from '../contract.ts'

/** Asks in turn; the first that allows or denies decides. The reasons of those without an opinion are kept. */
export function authorizersInTurn(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize: (attributes, signal) => new Asking(authorizers, attributes, signal).ask(),
    onChange(listener) {
      const stops = authorizers.map(authorizer => authorizer.onChange?.(listener))
      return () => {
        for (const stop of stops) stop?.()
      }
    },
  }
}

/** One question. Nothing is waited for while the answers come at once, as most do. */
class Asking {
  readonly #authorizers: readonly Authorizer[]
  readonly #attributes: Attributes
  readonly #signal: AbortSignal
  #asked = 0
  #reasons = ''

  constructor(authorizers: readonly Authorizer[], attributes: Attributes, signal: AbortSignal) {
    this.#authorizers = authorizers
    this.#attributes = attributes
    this.#signal = signal
  }

  ask(): Decision | Promise<Decision> {
    for (;;) {
      const authorizer = this.#authorizers[this.#asked++]
      if (authorizer === undefined) return { allowed: 'noOpinion', reason: this.#reasons }
      const answer = authorizer.authorize(this.#attributes, this.#signal)
      if (answer instanceof Promise) return answer.then(decision => this.#decides(decision) ?? this.ask())
      const decided = this.#decides(answer)
      if (decided !== undefined) return decided
    }
  }

  #decides(decision: Decision): Decision | undefined {
    if (decision.allowed !== 'noOpinion') return decision
    if (decision.reason !== '') {
      this.#reasons = this.#reasons === '' ? decision.reason : `${this.#reasons}\n${decision.reason}`
    }
    return undefined
  }
}
