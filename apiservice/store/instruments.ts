import type { Metrics } from '../../src/kernel/metrics.ts'
import type { Timeline } from './timeline.ts'
import type { WatchHub } from './watch-hub.ts'

/** What there is to tell of; another one after a store had to read everything again. */
type Told = { readonly timeline: Timeline; readonly hub: WatchHub }

/** What a store tells about itself. */
export class StoreInstruments {
  readonly committed: (writes: number, durationMs: number) => void
  readonly failed: () => void
  readonly cut: (changes: number) => void

  constructor(metrics: Metrics, told: () => Told, isWritable: () => boolean) {
    const gauge = (name: string, help: string, read: () => number): void =>
      metrics.gaugeFrom({ name, help }, read)
    gauge('isthmus_store_revision', 'Revision of the newest durable write.', () => told().timeline.revision)
    gauge('isthmus_store_writable', 'Whether writes can be made: 1, or 0.', () => Number(isWritable()))
    gauge('isthmus_store_objects', 'Objects in the store.', () => told().timeline.objects)
    gauge('isthmus_store_keys', 'Keys of objects and of kept deletions.', () => told().timeline.keys)
    gauge(
      'isthmus_store_history_events',
      'Changes kept for watches and older lists.',
      () => told().timeline.history.events,
    )
    gauge(
      'isthmus_store_history_bytes',
      'Bytes that only the history needs.',
      () => told().timeline.history.bytes,
    )
    gauge('isthmus_store_watches', 'Open watches.', () => told().hub.size)
    const writes = metrics.counter({ name: 'isthmus_store_writes_total', help: 'Durable writes.' })
    const seconds = metrics.histogram({
      name: 'isthmus_store_commit_duration_seconds',
      help: 'How long a group commit took, sync included.',
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
    })
    const failures = metrics.counter({
      name: 'isthmus_store_commit_failures_total',
      help: 'Group commits that failed.',
    })
    const cut = metrics.counter({
      name: 'isthmus_store_history_cut_total',
      help: 'Changes forgotten before their time since the history grew too large.',
    })
    this.committed = (count, durationMs) => {
      if (count === 0) return
      writes.add({}, count)
      seconds.observe(durationMs / 1000)
    }
    this.failed = () => failures.add()
    this.cut = changes => {
      if (changes > 0) cut.add({}, changes)
    }
  }
}
