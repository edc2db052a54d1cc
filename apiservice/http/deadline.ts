import { Bag, type Bagged } from '../../src/kernel/bag.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { badRequest, timedOut } from '../../src/kernel/errors.ts'
import { atEndOfTurn } from '../../src/kernel/turn.ts'
import type { ApiRequest, Reply, Stage } from '../contract.ts'
import { parseGoDuration } from './duration.ts'

const maxMs = 60_000

/**
 * Bounds every request but watches: by `?timeout=`, at most 60 s. When it has passed the signal aborts and the client
 * gets 504; what was written then may still be there. A time that is not above zero is none. The clock has to go on evenly
 * when the time of day is set.
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

type Bounded = Bagged & { readonly dueMs: number; late(): void; isOver: boolean }

/**
 * Most is answered in the turn of the event loop in which it came: only what is not is watched, by one timer for all. To
 * set one for each and to take it away again costs more than many a get.
 */
class Deadlines {
  readonly #clock: Clock
  readonly #begun: Bounded[] = []
  readonly #watched = new Bag<Bounded>()
  #next: { readonly dueMs: number; cancel(): void } | undefined

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
      const bounded: Bounded = { place: unwatched, dueMs: this.#clock.now() + timeoutMs, late, isOver: false }
      if (this.#begun.push(bounded) === 1) atEndOfTurn(() => this.#watch())
      replying.then(
        reply => {
          this.#end(bounded)
          resolve(reply)
        },
        (thrown: unknown) => {
          this.#end(bounded)
          reject(thrown)
        },
      )
    })
  }

  #watch(): void {
    let dueMs = Number.POSITIVE_INFINITY
    for (const bounded of this.#begun.splice(0)) {
      if (bounded.isOver) continue
      this.#watched.add(bounded)
      dueMs = Math.min(dueMs, bounded.dueMs)
    }
    this.#lookAt(dueMs, this.#clock.now())
  }

  /** No later than that. */
  #lookAt(dueMs: number, nowMs: number): void {
    if (dueMs >= (this.#next?.dueMs ?? Number.POSITIVE_INFINITY)) return
    this.#next?.cancel()
    const cancel = this.#clock.after(dueMs - nowMs, () => this.#look(dueMs))
    this.#next = { dueMs, cancel }
  }

  #look(firstMs: number): void {
    this.#next = undefined
    // A timer may come late, and by its own measure also a little early.
    const nowMs = Math.max(firstMs, this.#clock.now())
    let dueMs = Number.POSITIVE_INFINITY
    for (const bounded of this.#watched) {
      if (bounded.dueMs <= nowMs) this.#giveUp(bounded)
      else dueMs = Math.min(dueMs, bounded.dueMs)
    }
    this.#lookAt(dueMs, nowMs)
  }

  #giveUp(bounded: Bounded): void {
    this.#end(bounded)
    bounded.late()
  }

  #end(bounded: Bounded): void {
    if (bounded.isOver) return
    bounded.isOver = true
    if (bounded.place !== unwatched) this.#watched.remove(bounded)
  }
}

/** In no bag yet. */
const unwatched = -1

function timeoutOf(request: ApiRequest): number {
  const text = request.query.get('timeout')
  if (text === null || text === '') return maxMs
  const timeout = parseGoDuration(text)
  if ('fault' in timeout) throw badRequest(`invalid timeout specified in the request URL - ${timeout.fault}`)
  return timeout.ms <= 0 ? maxMs : Math.min(timeout.ms, maxMs)
}
