import type { Revision } from '../store-contract.ts'
import { firstNotBefore, type Version } from './object-index.ts'
import type { LogStart } from './record-log.ts'

export type HistoryLimits = {
  readonly maxBytes: number
  readonly maxEvents: number
}

/** Records that nobody can ask for any more, and where the history begins without them. */
export type Drop = { readonly revisions: readonly Revision[]; readonly start: LogStart }

/**
 * The kept changes, oldest first. Forgetting one moves the floor at once; what the log may drop for it is handed out in
 * steps, so that a log never lacks a record which its own floor promises.
 */
export class History {
  #versions: Version[] = []
  #head = 0
  #bytes = 0
  #floor: Revision
  /** Forgotten here, still in the log. */
  #forgotten: Version[] = []
  #forgottenHead = 0
  #logStart: LogStart

  constructor(start: LogStart) {
    this.#floor = start.floor
    this.#logStart = start
  }

  get floor(): Revision {
    return this.#floor
  }

  get events(): number {
    return this.#versions.length - this.#head
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Where the history in the log begins. */
  get logFloor(): Revision {
    return this.#logStart.floor
  }

  get hasDrops(): boolean {
    return this.#forgottenHead < this.#forgotten.length || this.#logStart.floor < this.#floor
  }

  push(version: Version): void {
    this.#versions.push(version)
    this.#bytes += version.bytes
  }

  /** Forgets changes up to `revision`, at most `max` of them; the result are the forgotten ones. */
  forget(revision: Revision, max: number): readonly Version[] {
    const gone = this.#forgetUntil(version => version.revision > revision, max)
    if ((this.#versions[this.#head]?.revision ?? Number.POSITIVE_INFINITY) > revision) {
      this.#floor = Math.max(this.#floor, revision)
    }
    return gone
  }

  /** Forgets what was written before `time`, at most `max` changes. */
  forgetBefore(time: number, max: number): readonly Version[] {
    return this.#forgetUntil(version => version.at >= time, max)
  }

  /** Forgets the oldest changes until the limits on bytes and number hold. */
  cut(limits: HistoryLimits): readonly Version[] {
    return this.#forgetUntil(() => this.#bytes <= limits.maxBytes && this.events <= limits.maxEvents)
  }

  /** Visits the changes after `revision`, oldest first, until `visit` answers false. */
  walk(revision: Revision, visit: (version: Version) => boolean): void {
    const from = firstNotBefore(this.events, index => {
      const version = this.#versions[this.#head + index]
      return version !== undefined && version.revision <= revision
    })
    for (let at = this.#head + from; at < this.#versions.length; at++) {
      const version = this.#versions[at]
      if (version === undefined || !visit(version)) return
    }
  }

  /** The next step of what the log may drop, at most `maxEvents` changes. Stays the next one until `dropped`. */
  nextDrop(maxEvents: number): Drop | undefined {
    if (!this.hasDrops) return undefined
    const step = this.#forgotten.slice(this.#forgottenHead, this.#forgottenHead + maxEvents)
    const isLast = this.#forgottenHead + step.length === this.#forgotten.length
    let live = this.#logStart.live
    const revisions: Revision[] = []
    for (const version of step) {
      if (version.previous !== 0) revisions.push(version.previous)
      if (version.type === 'DELETE') revisions.push(version.revision)
      live += Number(version.type === 'PUT') - Number(version.previous !== 0)
    }
    const floor = isLast ? this.#floor : (step.at(-1)?.revision ?? this.#floor)
    return { revisions, start: { floor, live } }
  }

  /** The log has taken the step that `nextDrop` gave. */
  dropped(drop: Drop): void {
    this.#logStart = drop.start
    while ((this.#forgotten[this.#forgottenHead]?.revision ?? Number.POSITIVE_INFINITY) <= drop.start.floor) {
      this.#forgottenHead++
    }
    if (this.#forgottenHead > 1024 || this.#forgottenHead === this.#forgotten.length) {
      this.#forgotten = this.#forgotten.slice(this.#forgottenHead)
      this.#forgottenHead = 0
    }
  }

  #forgetUntil(
    isKept: (version: Version) => boolean,
    max: number = Number.POSITIVE_INFINITY,
  ): readonly Version[] {
    const gone: Version[] = []
    for (let version = this.#versions[this.#head]; version !== undefined && gone.length < max; ) {
      if (isKept(version)) break
      gone.push(version)
      this.#forgotten.push(version)
      this.#bytes -= version.bytes
      this.#floor = version.revision
      this.#head++
      version = this.#versions[this.#head]
    }
    if (this.#head > 1024 && this.#head * 2 > this.#versions.length) {
      this.#versions = this.#versions.slice(this.#head)
      this.#head = 0
    }
    return gone
  }
}
