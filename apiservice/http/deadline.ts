import type { Clock } from '../../src/kernel/clock.ts'
import { badRequest, timedOut } from '../../src/kernel/errors.ts'
import { atEndOfTurn } from '../../src/kernel/turn.ts'
import type { ApiRequest, Reply, Stage } from '../contract.ts'
import { parseGoDuration } from './duration.ts'

const maxMs = 60_000

/**
 * Bounds every request but watches: by `?timeout=`, at most 60 s. When it has passed the signal aborts and the client
 * gets 504; what was written then may still be there. A time that is not above zero is none.
 */
export function deadline(clock: Clock): Stage {
  const deadlines = new Deadlines(clock)
  return next => (request, signal) => {
    if (request.info.verb === 'watch') return next(request, signal)
    const timeoutMs = timeoutOf(request)
    const replying = next(request, signal)
    return replying instanceof Promise ? deadlines.bound(replying, timeoutMs, request) : replying
  }
}

type Bounded = { readonly timeoutMs: number; late(): void; isOver: boolean; cancel: (() => void) | undefined }

/** Most is answered in the turn of the event loop in which it came: only what is not gets a timer. */
class Deadlines {
  readonly #clock: Clock
  readonly #untimed: Bounded[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  bound(replying: Promise<Reply>, timeoutMs: number, { notes }: ApiRequest): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const late = (): void => {
        const error = timedOut('Timeout: request did not complete within the allotted timeout')
        notes.giveUp(error)
        reject(error)
      }
      const bounded: Bounded = { timeoutMs, late, isOver: false, cancel: undefined }
      this.#begin(bounded)
      replying.then(
        reply => {
          end(bounded)
          resolve(reply)
        },
        (thrown: unknown) => {
          end(bounded)
          reject(thrown)
        },
      )
    })
  }

  #begin(bounded: Bounded): void {
    if (this.#untimed.push(bounded) === 1) atEndOfTurn(() => this.#setTimers())
  }

  #setTimers(): void {
    for (const bounded of this.#untimed.splice(0)) {
      if (!bounded.isOver) bounded.cancel = this.#clock.after(bounded.timeoutMs, bounded.late)
    }
  }
}

function end(bounded: Bounded): void {
  bounded.isOver = true
  bounded.cancel?.()
}

function timeoutOf(request: ApiRequest): number {
  const text = request.query.get('timeout')
  if (text === null || text === '') return maxMs
  const timeout = parseGoDuration(text)
  if ('fault' in timeout) throw badRequest(`invalid timeout specified in the request URL - ${timeout.fault}`)
  return timeout.ms <= 0 ? maxMs : Math.min(timeout.ms, maxMs)
}
