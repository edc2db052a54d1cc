import { tooManyRequests } from '../../src/kernel/errors.ts'
import type { Stage } from '../contract.ts'

/** Whether a server takes new requests. */
export type Drain = { readonly begun: boolean; begin(): void }

export function makeDrain(): Drain {
  let begun = false
  return {
    get begun() {
      return begun
    },
    begin: () => {
      begun = true
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
