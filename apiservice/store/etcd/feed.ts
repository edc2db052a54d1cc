import { background, errorText, never, sleep } from '../../../src/kernel/abort.ts'
import { unavailable } from '../../../src/kernel/errors.ts'
import type { Logger } from '../../../src/kernel/log.ts'
import { turn } from '../../../src/kernel/turn.ts'
import type { EtcdRequests, EtcdWatch, WatchListener } from './client.ts'
import type { KeyRange, WatchAnswer, WatchedEvent } from './messages.ts'
import type { Progress } from './progress.ts'

type FeedParts = {
  readonly client: Pick<EtcdRequests, 'clock' | 'soundMember' | 'watch'>
  readonly range: KeyRange
  readonly progress: Progress
  readonly log: Logger
  /** Takes in whole revisions; the next ones wait until it resolves. */
  take(events: readonly WatchedEvent[]): Promise<void>
  /** The changes after where memory is are gone: everything is read again. */
  startOver(why: string): Promise<void>
}

type End = { readonly why: string; readonly isLost: boolean }

const closed: End = { why: 'closed', isLost: false }

const firstRetryMs = 50
const maxRetryMs = 2_000
/** Who waits for a revision that may have touched no key of ours asks how far the watch has come. */
const askEveryMs = 5
/** Answers that wait to be taken in before no more are read. */
const maxWaiting = 200
const changesTogether = 1000

/** Keeps memory current by one watch of etcd, which is opened again whenever it ends. */
export class Feed {
  readonly #parts: FeedParts
  #watch: EtcdWatch | undefined
  #fault: string | undefined = 'etcd has not been heard of yet'
  #retryMs = firstRetryMs
  #waiting = 0
  #heardAt = 0
  #isAsking: boolean = false
  #loss: { readonly why: string; readonly epoch: number } | undefined
  readonly #opened = Promise.withResolvers<void>()
  /** What has come of an answer whose rest follows. */
  readonly #parted: WatchedEvent[] = []

  constructor(parts: FeedParts) {
    this.#parts = parts
  }

  /** Why nothing is heard of etcd at the moment. */
  get fault(): string | undefined {
    return this.#lost ?? this.#fault
  }

  /** Resolves when the watch is open for the first time. */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log, client, progress, startOver } = this.#parts
    while (!signal.aborted) {
      const { why, isLost } = await this.#follow(signal)
      if (signal.aborted) return
      this.#fault = `etcd: ${why}`
      log.warn('watch of etcd ended', { why, revision: progress.revision })
      if (isLost) await startOver(why)
      else await sleep(client.clock, this.#retryMs, signal)
      this.#retryMs = isLost ? firstRetryMs : Math.min(2 * this.#retryMs, maxRetryMs)
    }
  }

  /** Resolves when everything up to a revision is in memory, whether it touched keys of ours or not. */
  async reached(revision: number, withinMs: number): Promise<void> {
    const { progress, log } = this.#parts
    const lost = this.#lost
    if (lost !== undefined) throw unavailable(`the store is read again: ${lost}`)
    if (revision <= progress.revision) return
    this.#waiting++
    if (!this.#isAsking) background('progress of etcd', log, never, () => this.#ask())
    try {
      await progress.reached(revision, withinMs)
    } catch (thrown) {
      // A watch that hears nothing is opened again; one that has much to take in goes on.
      if (this.#parts.client.clock.now() - this.#heardAt >= withinMs) this.#watch?.cancel()
      throw thrown
    } finally {
      this.#waiting--
    }
  }

  /** What memory holds since it was read, for the time of `epoch`, is not what etcd holds. */
  lose(why: string, epoch: number): void {
    if (epoch !== this.#parts.progress.epoch || this.#lost !== undefined) return
    this.#loss = { why, epoch }
    this.#watch?.cancel()
  }

  /** Until memory was read anew. */
  get #lost(): string | undefined {
    return this.#loss?.epoch === this.#parts.progress.epoch ? this.#loss.why : undefined
  }

  async #ask(): Promise<void> {
    this.#isAsking = true
    try {
      for (;;) {
        await sleep(this.#parts.client.clock, askEveryMs, never)
        if (this.#waiting === 0) return
        this.#watch?.askProgress()
      }
    } finally {
      this.#isAsking = false
    }
  }

  /** Resolves when a watch has ended and all that came has been taken in. */
  async #follow(signal: AbortSignal): Promise<End> {
    let member: number
    try {
      member = await this.#parts.client.soundMember()
    } catch (thrown) {
      return { why: errorText(thrown), isLost: false }
    }
    if (this.#lost !== undefined) return { why: this.#lost, isLost: true }
    return signal.aborted ? closed : this.#listen(member, signal)
  }

  #listen(member: number, signal: AbortSignal): Promise<End> {
    const { client, range, progress } = this.#parts
    const { promise, resolve } = Promise.withResolvers<End>()
    const answers: WatchAnswer[] = []
    this.#parted.length = 0
    let end: End | undefined
    let isTaking = false
    const finish = (): void => {
      signal.removeEventListener('abort', onAbort)
      this.#watch = undefined
      const lost = this.#lost
      resolve(lost === undefined ? (end ?? closed) : { why: lost, isLost: true })
    }
    const take = async (): Promise<void> => {
      isTaking = true
      await turn()
      for (let answer = nextOf(answers); answer !== undefined; answer = nextOf(answers)) {
        end ??= await this.#take(answer).catch(lostBy)
        if (answers.length === 0) watch.resume()
      }
      isTaking = false
      if (end !== undefined) watch.cancel()
    }
    const onAbort = (): void => watch.cancel()
    this.#heardAt = client.clock.now()
    const listener: WatchListener = {
      answer: answer => {
        this.#heardAt = client.clock.now()
        answers.push(answer)
        if (answers.length > maxWaiting) watch.pause()
        if (!isTaking) taking = take()
      },
      end: why => {
        end ??= { why, isLost: false }
        taking.then(finish, finish)
      },
    }
    const watch = client.watch(range, progress.revision + 1, listener, member)
    let taking: Promise<void> = Promise.resolve()
    this.#watch = watch
    signal.addEventListener('abort', onAbort, { once: true })
    return promise
  }

  async #take(answer: WatchAnswer): Promise<End | undefined> {
    const { progress, take } = this.#parts
    const { canceled, compacted, created, events, isFragment, newest } = answer
    if (canceled !== undefined) {
      return { why: compacted > 0 ? 'older changes were compacted' : canceled, isLost: compacted > 0 }
    }
    if (created) {
      this.#fault = undefined
      this.#opened.resolve()
      this.#retryMs = firstRetryMs
    }
    if (isFragment) {
      this.#parted.push(...events)
      return undefined
    }
    const all = this.#parted.length === 0 ? events : [...this.#parted.splice(0), ...events]
    const last = all.at(-1)
    if (last !== undefined) await take(all)
    if (last !== undefined || !created) progress.advance(last?.revision ?? newest)
    return undefined
  }
}

/** The next answer; together with those behind it that only bring more changes, since each step costs those who watch. */
function nextOf(answers: WatchAnswer[]): WatchAnswer | undefined {
  const [first] = answers
  let count = 1
  let changes = first?.events.length ?? 0
  while (changes < changesTogether && isPlain(answers[count - 1]) && isPlain(answers[count])) {
    changes += answers[count]?.events.length ?? 0
    count++
  }
  const taken = answers.splice(0, count)
  return first && { ...first, events: taken.flatMap(({ events }) => events) }
}

function isPlain(answer: WatchAnswer | undefined): boolean {
  if (answer === undefined || answer.events.length === 0) return false
  return !answer.isFragment && answer.canceled === undefined
}

function lostBy(thrown: unknown): End {
  return { why: errorText(thrown), isLost: true }
}
