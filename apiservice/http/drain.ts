import { tooManyRequests } from '../../src/kernel/errors.ts'
import type { Stage } from '../contract.ts'

/** How far a server is with its end: announced, so that nobody sends it more, and then begun, so that it takes no more. */
export type Drain = { readonly announced: boolean; readonly begun: boolean; announce(): void; begin(): void }

export function makeDrain(): Drain {
  let stage: 'no' | 'announced' | 'begun' = 'no'
  return {
    get announced() {
      return stage !== 'no'
    },
    get begun() {
      return stage === 'begun'
    },
    announce: () => {
      if (stage === 'no') stage = 'announced'
    },
    begin: () => {
      stage = 'begun'
    },
  }
}

/** Refuses what arrives after the shutdown has begun, so that clients retry elsewhere; health goes on answering. */
export function refuseWhenDraining(drain: Drain): Stage {
  return next => (request, signal) => {
    if (drain.begun && !isHealth(request.path)) {
      throw tooManyRequests('The apiserver is shutting down, please try again later.', 5)
    }
    return next(request, signal)
  }
}

function isHealth(path: string): boolean {
  return /^\/(livez|readyz|healthz)(\/|$)/.test(path)
}
