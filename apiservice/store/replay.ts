import { background, errorText, never } from '../../src/kernel/abort.ts'
import type { Logger } from '../../src/kernel/log.ts'
import { turn } from '../../src/kernel/turn.ts'
import type { StoreEvent } from '../store-contract.ts'
import type { Version } from './object-index.ts'
import type { Timeline, VersionRef } from './timeline.ts'
import type { VersionReader } from './version-reader.ts'
import type { Watcher, WatchHub } from './watch-hub.ts'

/** Brings watchers that begin in the past up to the newest commit and hands them over to the hub. */
export class Replay {
  readonly #timeline: Timeline
  readonly #reader: VersionReader
  readonly #hub: WatchHub
  readonly #log: Logger

  constructor(timeline: Timeline, reader: VersionReader, hub: WatchHub, log: Logger) {
    this.#timeline = timeline
    this.#reader = reader
    this.#hub = hub
    this.#log = log
  }

  start(watcher: Watcher): void {
    background('watch replay', this.#log, never, () => this.#run(watcher))
  }

  async #run(watcher: Watcher): Promise<void> {
    await turn()
    if (this.#hub.isClosed) this.#hub.end(watcher, 'closed')
    while (!watcher.isStopped) {
      const { revision, history } = this.#timeline
      if (watcher.position < history.floor) {
        this.#hub.end(watcher, 'expired')
      } else if (watcher.position >= revision) {
        // No turn may pass between this comparison and join, or a commit would be missed.
        this.#hub.join(watcher)
        if (watcher.position === revision) this.#hub.deliver(watcher, [], revision)
        return
      } else {
        await this.#step(watcher)
        await turn()
      }
    }
  }

  async #step(watcher: Watcher): Promise<void> {
    const { changes, through } = this.#timeline.changesAfter(watcher.position, watcher.scope)
    if (changes.length === 0) {
      watcher.position = through
      return
    }
    const events = await this.#events(changes)
    if (events === undefined) this.#hub.end(watcher, 'expired')
    else this.#hub.deliver(watcher, events, through)
  }

  /** Undefined when the history was cut in the meantime, or the log cannot be read. */
  async #events(changes: readonly Version[]): Promise<readonly StoreEvent[] | undefined> {
    const wanted: VersionRef[] = []
    for (const change of changes) {
      wanted.push(change)
      if (change.previous !== 0) wanted.push({ slot: change.slot, revision: change.previous })
    }
    try {
      const objects = await this.#reader.load(wanted)
      let at = 0
      const events: StoreEvent[] = []
      for (const { type, previous } of changes) {
        const object = objects[at++]
        const before = previous === 0 ? undefined : objects[at++]
        if (object === undefined || (previous !== 0 && before === undefined)) return undefined
        events.push({ type, object, previous: before })
      }
      return events
    } catch (thrown) {
      this.#log.warn('store history cannot be read', { error: errorText(thrown) })
      return undefined
    }
  }
}
