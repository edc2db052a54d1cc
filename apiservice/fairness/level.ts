import type { Clock } from '../../src/kernel/clock.ts'
import { Counts } from '../../src/kernel/counts.ts'
import { tooManyRequests } from '../../src/kernel/errors.ts'

export type LevelLimits = {
  /** So many may be held at once; a wide request may go beyond them by its width. */
  readonly seats: number
  /** So many of them by one client. */
  readonly seatsOfClient: number
  /** So many requests of one client wait. */
  readonly queueOfClient: number
  /** So many requests wait in all. */
  readonly queue: number
  /** So many seats are given to one client in one turn of the event loop. */
  readonly startsOfClient: number
  /** No request waits for longer. */
  readonly longestWaitMs: number
}

/** Why a request was not let in: words of kube-apiserver. */
export const rejections = ['queue-full', 'time-out', 'cancelled'] as const
type Rejection = (typeof rejections)[number]

/** In seconds; those of kube-apiserver. */
export const waitBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]

/** One request that is under way. */
export class Seat {
  readonly #level: Level
  readonly #client: Client
  #width: number

  constructor(level: Level, client: Client, width: number) {
    this.#level = level
    this.#client = client
    this.#width = width
    level.hold(client, width)
  }

  /** It turns out to be wider, or narrower, than was thought. */
  widen(width: number): void {
    if (this.#width === 0) return
    this.#level.change(this.#client, width - this.#width)
    this.#width = width
  }

  /** Again has no effect. */
  release(): void {
    if (this.#width === 0) return
    const width = this.#width
    this.#width = 0
    this.#level.leave(this.#client, width)
  }
}

type Waiting = { readonly width: number; enter(seat: Seat): void; giveUp(why: Rejection): void }

/** Whose requests are under way or wait. */
type Client = {
  readonly name: string
  held: number
  /** Seats that it was given in this turn of the event loop. */
  started: number
  /** Turns that it has had before the others: a wide request takes as many as it is wide. */
  debt: number
  /** In the order of coming. */
  readonly waiting: Set<Waiting>
}

export type LevelOptions = { readonly clock: Clock; readonly limits: LevelLimits }

/**
 * Seats for requests, and queues of those that wait for one: a queue for each client, served in turn. A seat that needs
 * nothing but the processor is free again before the next request is looked at, so what one client starts in a turn of the
 * event loop is bounded too; otherwise what others have sent meanwhile would not even be read. Those that wait are let in in
 * a later turn.
 */
export class Level {
  readonly #options: LevelOptions
  readonly #clients = new Map<string, Client>()
  /** Clients of which requests wait, the next one first. */
  readonly #inTurn = new Set<Client>()
  /** Clients that were given seats in this turn of the event loop. */
  readonly #started: Client[] = []
  readonly rejected: Record<Rejection, number> = { 'queue-full': 0, 'time-out': 0, cancelled: 0 }
  /** How long requests waited that were let in, and those that were not; most did not wait at all. */
  readonly waits = { letIn: new Counts(waitBuckets), rejected: new Counts(waitBuckets) }
  #held = 0
  #executing = 0
  #queued = 0
  #dispatched = 0
  #isTurnAhead: boolean = false
  #isLettingIn: boolean = false

  constructor(options: LevelOptions) {
    this.#options = options
  }

  get limits(): LevelLimits {
    return this.#options.limits
  }

  get heldSeats(): number {
    return this.#held
  }

  get executing(): number {
    return this.#executing
  }

  get queued(): number {
    return this.#queued
  }

  get dispatched(): number {
    return this.#dispatched
  }

  /** At once when there is room, as there mostly is. Throws 429 when the queue of the client is full, rejects so when it does not move. */
  enter(name: string, width: number, signal: AbortSignal): Seat | Promise<Seat> {
    const client = this.#clients.get(name) ?? this.#newClient(name)
    if (this.#mayPass(client)) {
      this.waits.letIn.add(0)
      return new Seat(this, client, width)
    }
    if (!this.#mayWait(client)) {
      this.#forgetIdle(client)
      throw this.#refuse('queue-full', 0, signal)
    }
    return this.#wait(client, width, signal)
  }

  /** For `Seat`. */
  hold(client: Client, width: number): void {
    if (client.started === 0) this.#started.push(client)
    client.started += width
    client.held += width
    this.#held += width
    this.#executing++
    this.#dispatched++
    this.#nextTurn()
  }

  /** For `Seat`. */
  change(client: Client, by: number): void {
    client.held += by
    this.#held += by
    if (by < 0) this.#letInSoon()
  }

  /** For `Seat`. */
  leave(client: Client, width: number): void {
    client.held -= width
    this.#held -= width
    this.#executing--
    this.#letInSoon()
    this.#forgetIdle(client)
  }

  #newClient(name: string): Client {
    const client = { name, held: 0, started: 0, debt: 0, waiting: new Set<Waiting>() }
    this.#clients.set(name, client)
    return client
  }

  #forgetIdle(client: Client): void {
    if (client.held === 0 && client.started === 0 && client.waiting.size === 0)
      this.#clients.delete(client.name)
  }

  #hasRoom(client: Client): boolean {
    const { seats, seatsOfClient, startsOfClient } = this.limits
    return this.#held < seats && client.held < seatsOfClient && client.started < startsOfClient
  }

  /** Without a wait. While those are about to be let in who had to wait, half of the seats are theirs. */
  #mayPass(client: Client): boolean {
    if (!this.#hasRoom(client)) return false
    return !this.#isLettingIn || (client.waiting.size === 0 && this.#held < this.limits.seats / 2)
  }

  /** Whoever has nothing waiting may wait even when all queues together are full: one of the longest goes. */
  #mayWait(client: Client): boolean {
    const { queue, queueOfClient } = this.limits
    if (client.waiting.size >= queueOfClient) return false
    if (this.#queued < queue) return true
    if (client.waiting.size > 0) return false
    let longest: Client | undefined
    for (const each of this.#inTurn) if (each.waiting.size > (longest?.waiting.size ?? 1)) longest = each
    if (longest === undefined) return false
    const newest = [...longest.waiting].at(-1)
    newest?.giveUp('queue-full')
    return true
  }

  #wait(client: Client, width: number, signal: AbortSignal): Promise<Seat> {
    const { clock, limits } = this.#options
    const sinceMs = clock.now()
    const waited = (): number => (clock.now() - sinceMs) / 1000
    return new Promise((resolve, reject) => {
      const giveUp = (why: Rejection): void => {
        this.#drop(client, waiting)
        stop()
        reject(this.#refuse(why, waited(), signal))
      }
      const onAbort = (): void => giveUp('cancelled')
      const cancel = clock.after(limits.longestWaitMs, () => giveUp('time-out'))
      const stop = (): void => {
        cancel()
        signal.removeEventListener('abort', onAbort)
      }
      const waiting: Waiting = {
        width,
        giveUp,
        enter: seat => {
          stop()
          this.waits.letIn.add(waited())
          resolve(seat)
        },
      }
      client.waiting.add(waiting)
      this.#queued++
      this.#inTurn.add(client)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  #drop(client: Client, waiting: Waiting): void {
    client.waiting.delete(waiting)
    this.#queued--
    if (client.waiting.size > 0) return
    this.#inTurn.delete(client)
    this.#forgetIdle(client)
  }

  #letInSoon(): void {
    if (this.#queued === 0) return
    this.#isLettingIn = true
    this.#nextTurn()
  }

  #nextTurn(): void {
    if (this.#isTurnAhead) return
    this.#isTurnAhead = true
    setImmediate(this.#begin)
  }

  readonly #begin = (): void => {
    this.#isTurnAhead = false
    this.#isLettingIn = false
    for (const client of this.#started.splice(0)) {
      client.started = 0
      this.#forgetIdle(client)
    }
    if (this.#queued > 0) this.#letIn()
  }

  #letIn(): void {
    for (let client = this.#next(); client !== undefined; client = this.#next()) {
      const [first] = client.waiting
      if (first === undefined) return
      const seat = new Seat(this, client, first.width)
      this.#inTurn.delete(client)
      this.#inTurn.add(client)
      client.debt += first.width - 1
      this.#drop(client, first)
      first.enter(seat)
    }
  }

  /** Whose turn it is: the first that may have a seat and owes none of its turns to the others. */
  #next(): Client | undefined {
    for (;;) {
      const able = this.#inTurn.values().find(client => this.#hasRoom(client))
      if (able === undefined || able.debt === 0) return able
      able.debt--
      this.#inTurn.delete(able)
      this.#inTurn.add(able)
    }
  }

  #refuse(why: Rejection, seconds: number, signal: AbortSignal): unknown {
    this.rejected[why]++
    this.waits.rejected.add(seconds)
    if (why === 'cancelled') return signal.reason
    return tooManyRequests('Too many requests, please try again later.', 1)
  }
}
