import { background, errorText, never } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Logger } from '../../src/kernel/log.ts'
import { turn } from '../../src/kernel/turn.ts'
import type { Revision, Scope, StoreEvent, StoreListener } from '../store-contract.ts'
import { HandOutPace } from './hand-out-pace.ts'

/** One watch. `position`: all up to here has been delivered. */
export type Watcher = {
  readonly scope: Scope
  readonly listener: StoreListener
  position: Revision
  isStopped: boolean
}

type Commit = { readonly events: readonly StoreEvent[]; readonly through: Revision }

/** Watchers of one scope: they share the array of events that a commit has for them. */
type Group = {
  readonly key: string
  readonly scope: Scope
  readonly watchers: Set<Watcher>
  pending: StoreEvent[]
}

/** What listeners are handed before other work gets its turn: bytes of bodies, and for each call what it costs itself. */
const bytesPerTurn = 4 * 1024 * 1024
const bytesPerCall = 4 * 1024
/** Commits wait for the listeners when so many events have not been handed out. */
const maxBacklogEvents = 20_000
/** What an event costs beside its body, as streams count it. */
const bytesPerEvent = 512
/** Commits that wait are handed out as one up to so many bytes of bodies: each watcher is written to once for all. */
const joinedBytes = 128 * 1024

/**
 * Hands commits to the watchers that they concern, in order, in later turns; those that gather meanwhile are one. Watchers are found by resource and
 * namespace, so that those whose objects rest cost nothing.
 */
export class WatchHub {
  readonly #log: Logger
  readonly #groups = new Map<string, Group>()
  /** By resource, then by namespace, the empty one standing for all. */
  readonly #byScope = new Map<string, Map<string, Set<Group>>>()
  readonly #watchers = new Set<Watcher>()
  readonly #queue: Commit[] = []
  readonly #drained: (() => void)[] = []
  readonly #pace: HandOutPace
  #backlog = 0
  /** Of what waits in the queue. */
  #queuedBytes = 0
  #isPumping: boolean = false
  #isClosed: boolean = false
  #delivered: Revision
  #published: Revision

  constructor(log: Logger, clock: Clock, delivered: Revision) {
    this.#log = log
    this.#pace = new HandOutPace(clock)
    this.#delivered = delivered
    this.#published = delivered
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get size(): number {
    return this.#watchers.size
  }

  /** Hands out a commit in later turns. */
  publish(events: readonly StoreEvent[], through: Revision): void {
    this.#queue.push({ events, through })
    this.#published = through
    this.#backlog += events.length
    this.#queuedBytes += costOf(events)
    if (!this.#mayRest()) this.#pace.goOn()
    this.#wake()
  }

  /** Whether more commits are about to be published, for which these may wait a moment. */
  expect(isMoreToCome: boolean): void {
    this.#pace.expect(isMoreToCome)
  }

  /** Tells watchers whose objects rest how far the store has come. */
  progress(): void {
    for (const watcher of this.#watchers) {
      if (watcher.position >= this.#delivered) continue
      this.publish([], this.#published)
      return
    }
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher)
  }

  /** The watcher gets no more calls. */
  remove(watcher: Watcher): void {
    watcher.isStopped = true
    this.#watchers.delete(watcher)
    this.#leave(watcher)
  }

  /** Commits go to the watcher from now on. It has been told everything up to the newest one. */
  join(watcher: Watcher): void {
    this.#obtain(watcher.scope).watchers.add(watcher)
  }

  /** Calls the listener; one that throws is ended, since nobody knows what it has taken in. */
  deliver(watcher: Watcher, events: readonly StoreEvent[], through: Revision): void {
    if (watcher.isStopped) return
    watcher.position = through
    try {
      watcher.listener.events(events, through)
    } catch (thrown) {
      this.#log.error('watch listener failed', { error: errorText(thrown), revision: through })
      this.end(watcher, 'expired')
    }
  }

  end(watcher: Watcher, reason: 'expired' | 'closed'): void {
    if (watcher.isStopped) return
    this.remove(watcher)
    try {
      watcher.listener.end(reason)
    } catch (thrown) {
      this.#log.error('watch listener failed', { error: errorText(thrown), reason })
    }
  }

  /** Ends every watch; later ones end at once. */
  close(): void {
    this.#isClosed = true
    this.#endAll('closed')
  }

  /** Ends every watch: nobody knows any more what came after where it is. */
  expire(): void {
    this.#endAll('expired')
  }

  /** Resolves when few enough events wait for their listeners. */
  ready(): Promise<void> {
    return this.#backlog <= maxBacklogEvents ? Promise.resolve() : this.drained()
  }

  /** Resolves when every published commit has been handed out. */
  drained(): Promise<void> {
    if (!this.#isPumping) return Promise.resolve()
    this.#pace.goOn()
    return new Promise(resolve => this.#drained.push(resolve))
  }

  #endAll(reason: 'expired' | 'closed'): void {
    for (const watcher of [...this.#watchers]) this.end(watcher, reason)
  }

  #wake(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    background('watch fan-out', this.#log, never, () => this.#pump())
  }

  async #pump(): Promise<void> {
    await turn()
    while (this.#queue.length > 0) {
      if (this.#mayRest()) await this.#pace.due()
      const commit = this.#take()
      await this.#pace.measure(() => this.#handOut(commit))
      this.#delivered = commit.through
      this.#backlog -= commit.events.length
    }
    // At once: what is published from now on has to wake it again.
    this.#isPumping = false
    for (const resolve of this.#drained.splice(0)) resolve()
  }

  /** Not when nothing more would be handed out together with what waits, and not when somebody waits for the end. */
  #mayRest(): boolean {
    const isProgress = this.#queue.at(-1)?.events.length === 0
    return this.#drained.length === 0 && this.#queuedBytes <= joinedBytes && !isProgress
  }

  /** The commits that have gathered while others were handed out, as one; one that only tells progress is for itself. */
  #take(): Commit {
    let count = 0
    let bytes = 0
    for (const { events } of this.#queue) {
      const cost = costOf(events)
      if (count > 0 && (events.length === 0 || bytes + cost > joinedBytes)) break
      bytes += cost
      count++
      if (events.length === 0) break
    }
    this.#queuedBytes -= bytes
    const taken = this.#queue.splice(0, count)
    const through = taken.at(-1)?.through ?? this.#delivered
    return { events: count === 1 ? (taken[0]?.events ?? []) : taken.flatMap(({ events }) => events), through }
  }

  async #handOut(commit: Commit): Promise<void> {
    let handed = 0
    for (const group of this.#concerned(commit)) {
      const events = group.pending
      group.pending = []
      const cost = bytesPerCall + bytesOf(events)
      for (const watcher of group.watchers) {
        if (watcher.position >= commit.through) continue
        this.deliver(watcher, eventsAfter(watcher.position, events), commit.through)
        handed += cost
        if (handed < bytesPerTurn) continue
        handed = 0
        await turn()
      }
    }
  }

  /** The groups that a commit has events for, with these pending; all of them when it only tells progress. */
  #concerned(commit: Commit): readonly Group[] {
    if (commit.events.length === 0) return [...this.#groups.values()]
    const concerned = new Set<Group>()
    for (const event of commit.events) {
      const byNamespace = this.#byScope.get(event.object.resource)
      if (byNamespace === undefined) continue
      const { namespace } = event.object
      for (const group of byNamespace.get('') ?? nobody) note(concerned, group, event)
      if (namespace === '') continue
      for (const group of byNamespace.get(namespace) ?? nobody) note(concerned, group, event)
    }
    return [...concerned]
  }

  #leave(watcher: Watcher): void {
    const group = this.#groups.get(keyOf(watcher.scope))
    if (group?.watchers.delete(watcher) === true && group.watchers.size === 0) this.#drop(group)
  }

  #obtain(scope: Scope): Group {
    const key = keyOf(scope)
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    const group: Group = { key, scope, watchers: new Set(), pending: [] }
    this.#groups.set(key, group)
    for (const resource of new Set(scope.resources)) {
      const byNamespace = this.#byScope.get(resource) ?? new Map<string, Set<Group>>()
      this.#byScope.set(resource, byNamespace)
      byNamespace.set(scope.namespace, (byNamespace.get(scope.namespace) ?? new Set()).add(group))
    }
    return group
  }

  #drop(group: Group): void {
    this.#groups.delete(group.key)
    for (const resource of new Set(group.scope.resources)) {
      const byNamespace = this.#byScope.get(resource)
      const groups = byNamespace?.get(group.scope.namespace)
      groups?.delete(group)
      if (groups?.size === 0) byNamespace?.delete(group.scope.namespace)
      if (byNamespace?.size === 0) this.#byScope.delete(resource)
    }
  }
}

const nobody: ReadonlySet<Group> = new Set()

/** As streams count them. */
function costOf(events: readonly StoreEvent[]): number {
  return bytesOf(events) + events.length * bytesPerEvent
}

function bytesOf(events: readonly StoreEvent[]): number {
  return events.reduce((sum, { object }) => sum + object.body.length, 0)
}

function note(concerned: Set<Group>, group: Group, event: StoreEvent): void {
  concerned.add(group)
  group.pending.push(event)
}

function keyOf(scope: Scope): string {
  return JSON.stringify([scope.namespace, ...scope.resources])
}

/** Most watchers take the whole array; one that joined in the middle of a commit takes the rest of it. */
function eventsAfter(position: Revision, events: readonly StoreEvent[]): readonly StoreEvent[] {
  const first = events[0]
  if (first === undefined || first.object.revision > position) return events
  return events.filter(event => event.object.revision > position)
}
