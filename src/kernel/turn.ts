/** One thread serves everybody: who has much to compute does it in parts. */
import type { Clock } from './clock.ts'

/** Resolves in a later turn of the event loop, after the input that is already there has been read. */
export function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

let ending: (() => void)[] = []
let isPlanned = false

/**
 * Calls back at the end of this turn of the event loop, after the input that is already there has been read, all who wait
 * for it one right after the other. Who asks for it while they are called, or in what promises then do, is called right
 * after that, once in each turn.
 *
 * The same work for one after the other finds its code and data in the caches of the processor; and answers that are
 * written so wake a client on another processor once, where each wake costs more than a whole read does.
 */
export function atEndOfTurn(run: () => void): void {
  ending.push(run)
  plan()
}

function plan(): void {
  if (isPlanned) return
  isPlanned = true
  // Node does what ticks and promises have to do after each of the two.
  setImmediate(runPresent)
  setImmediate(endTurn)
}

function endTurn(): void {
  try {
    runPresent()
  } finally {
    isPlanned = false
    if (ending.length > 0) plan()
  }
}

function runPresent(): void {
  const running = ending.values()
  ending = []
  try {
    for (const run of running) run()
  } catch (thrown) {
    // Nobody else is to wait for ever.
    ending = [...running, ...ending]
    throw thrown
  }
}

/** A shorter wait nobody notices. */
const longestMs = 10

/** The work of one request. */
export class Pace {
  readonly #clock: Clock
  #since: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#since = clock.now()
  }

  /** To be asked between two parts of the work: whether it has been going on for so long that others must have a turn. */
  get isDue(): boolean {
    return this.#clock.now() - this.#since >= longestMs
  }

  /** What comes next, after a rest where one is due. */
  goOn<T>(next: () => T | Promise<T>): T | Promise<T> {
    return this.isDue ? this.rest().then(next) : next()
  }

  /** Others have their turn. */
  async rest(): Promise<void> {
    await turn()
    this.#since = this.#clock.now()
  }

  /** Work in steps, with a rest after each. */
  async through<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next()
      if (step.done) return step.value
      if (this.isDue) await this.rest()
    }
  }
}

/** Of each turn of the event loop; with the part that is begun last it may take longer. */
const longWorkMs = 10

/**
 * The long work of all requests together: however many there are, each turn of the event loop does only so much of it, and
 * who comes first has the first part.
 */
export class LongWork {
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #beganMs: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** To be asked before a part is done: whether this turn has time for one. Else `turn` is to be waited for. */
  begins(): boolean {
    const nowMs = this.#clock.now()
    if (this.#beganMs === undefined) {
      this.#beganMs = nowMs
      // Comes before whatever is planned for the next turn from now on.
      setImmediate(() => {
        this.#beganMs = undefined
      })
    }
    return nowMs - this.#beganMs < longWorkMs
  }

  /** Resolves in a later turn that has time for a part, after the input that is already there has been read. */
  turn(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      this.#plan()
    })
  }

  /** Whoever has waited longest comes first, also when others ask again meanwhile. */
  #plan(): void {
    setImmediate(() => {
      if (this.begins()) this.#waiting.shift()?.()
      else this.#plan()
    })
  }
}

/** Work that may rest wherever it yields. */
export type Steps<T> = Generator<undefined, T, undefined>

/** The work at once, for those who have little of it. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
