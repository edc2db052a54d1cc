/** From changes of objects to what a watcher sees of them: what a selection does not show is not there. */
import type { WatchEvent } from '../contract.ts'
import type { StoredObject, StoreEvent } from '../store-contract.ts'
import type { Show } from './selection.ts'

/** Watchers that see everything share the events of a batch, as the store shares the batch. */
const plain = new WeakMap<readonly StoreEvent[], readonly WatchEvent[]>()

export function transitions(batch: readonly StoreEvent[], show: Show | undefined): readonly WatchEvent[] {
  if (show !== undefined) return batch.flatMap(event => shownEvent(event, show) ?? [])
  const known = plain.get(batch)
  if (known !== undefined) return known
  const events = batch.map(plainEvent)
  plain.set(batch, events)
  return events
}

/** Of what is looked at in several parts: event for event, what each part sees of it. */
export function transitionsOfAll(
  batch: readonly StoreEvent[],
  shows: readonly (Show | undefined)[],
): readonly WatchEvent[] {
  if (shows.length === 1) return transitions(batch, shows[0])
  return batch.flatMap(event => shows.flatMap(show => transitions([event], show)))
}

function plainEvent({ type, object, previous }: StoreEvent): WatchEvent {
  if (type === 'DELETE') return { type: 'DELETED', object }
  return { type: previous === undefined ? 'ADDED' : 'MODIFIED', object }
}

/** Entering the selection is ADDED; leaving it is DELETED, with the last state that was in it, at the new revision. */
function shownEvent({ type, object, previous }: StoreEvent, show: Show): WatchEvent | undefined {
  const before = previous && show(previous)
  const after = show(object)
  if (type === 'DELETE') {
    if (before === undefined) return undefined
    return { type: 'DELETED', object: after ?? departed(before, object) }
  }
  if (after !== undefined) return { type: before === undefined ? 'ADDED' : 'MODIFIED', object: after }
  return before && { type: 'DELETED', object: departed(before, object) }
}

const departures = new WeakMap<StoredObject, WeakMap<StoredObject, StoredObject>>()

/** One instance for all watchers, so that it is encoded once. */
function departed(before: StoredObject, now: StoredObject): StoredObject {
  const known = departures.get(now)?.get(before)
  if (known !== undefined) return known
  const made = { ...before, revision: now.revision }
  const ofEvent = departures.get(now) ?? new WeakMap()
  departures.set(now, ofEvent.set(before, made))
  return made
}
