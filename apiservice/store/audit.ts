import { decodeRecord } from './record.ts'
import type { Log } from './record-log.ts'
import type { Timeline } from './timeline.ts'

/** Throws unless a log, opened again, holds every object that was there before and the newest change. */
export async function audit(log: Log, timeline: Timeline): Promise<void> {
  const { revision, objects, history } = timeline
  let missing = objects
  let newest = revision > history.floor ? revision : 0
  for await (const entries of log.scan(0)) {
    for (const entry of entries) {
      const { key } = decodeRecord(entry.revision, entry.value)
      if (timeline.current(key)?.revision === entry.revision) missing--
      if (entry.revision === newest) newest = 0
    }
  }
  if (missing !== 0 || newest !== 0) throw new Error(`the log lacks ${Math.max(missing, 1)} answered changes`)
}
