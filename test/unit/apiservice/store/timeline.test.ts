import { beforeEach, describe, expect, it } from 'vitest'
import type { LogRecord } from '../../../../apiservice/store/record.ts'
import { DamagedRecord, encodeRecord } from '../../../../apiservice/store/record.ts'
import { Timeline } from '../../../../apiservice/store/timeline.ts'
import { aBody, aKey, inScope } from '../../../conformance/store/harness.ts'

let timeline: Timeline

/** The next record: a creation of `shop/web` in an empty store unless told otherwise. */
function aRecord(options: Partial<LogRecord> = {}): LogRecord {
  const { revision } = timeline
  const body = aBody('x')
  return {
    type: 'PUT',
    at: 1,
    revision: revision + 1,
    before: revision,
    previous: 0,
    key: aKey('shop/web'),
    body,
    ...options,
  }
}

function restore(record: LogRecord): void {
  timeline.restore({ revision: record.revision, value: encodeRecord(record) })
}

beforeEach(() => {
  timeline = new Timeline({ floor: 1, live: 0 }, 0)
})

describe('a timeline', () => {
  it('knows nothing more of keys whose deletion is forgotten', () => {
    for (let count = 0; count < 1000; count++) {
      const key = aKey(`shop/n${count}`)
      const { object } = timeline.apply(aRecord({ key }))
      timeline.apply(aRecord({ key, type: 'DELETE', previous: object.revision }))
    }
    expect([timeline.objects, timeline.keys]).toEqual([0, 1000])
    expect(timeline.forget(timeline.revision - 10, 1000)).toBe(1000)
    expect(timeline.history.floor).toBe(1001)
    expect(timeline.forget(timeline.revision - 10, 5000)).toBe(990)
    expect(timeline.keys).toBe(5)
    timeline.forget(timeline.revision, 10)
    expect([timeline.keys, timeline.history.bytes, timeline.history.events]).toEqual([0, 0, 0])
  })

  it('knows a key that was created again before its deletion was forgotten', () => {
    const first = timeline.apply(aRecord())
    const gone = timeline.apply(aRecord({ type: 'DELETE', previous: first.object.revision }))
    const again = timeline.apply(aRecord())
    timeline.forget(gone.object.revision, 10)
    expect(timeline.current(aKey('shop/web'))).toBe(again.object)
    expect(timeline.pageAt(gone.object.revision, inScope(), { limit: 0 }).items).toEqual([])
  })

  it('records times that never go back, so that the oldest change is the first to be forgotten', () => {
    timeline.apply(aRecord({ at: 5000 }))
    expect(timeline.notBefore(3000)).toBe(5000)
    expect(timeline.notBefore(6000)).toBe(6000)
  })

  it.each([
    ['a change before it', { revision: 6, before: 5 }],
    ['the version that it replaces', { previous: 2 }],
    ['the version that it deletes', { type: 'DELETE' as const, previous: 7 }],
  ])('refuses a record that lacks %s', (_, options) => {
    restore(aRecord({ key: aKey('shop/other') }))
    restore(aRecord({ key: aKey('shop/third') }))
    expect(() => restore(aRecord({ ...options }))).toThrow(DamagedRecord)
    restore(aRecord())
    expect(timeline.objects).toBe(3)
  })

  it('takes in objects that are older than the history, in any gap', () => {
    timeline = new Timeline({ floor: 100, live: 2 }, 0)
    restore(aRecord({ revision: 7, before: 6, previous: 3 }))
    restore(aRecord({ revision: 50, before: 49, previous: 0, key: aKey('shop/other') }))
    expect(timeline.history.events).toBe(0)
    restore(aRecord({ revision: 103, before: 98, previous: 7 }))
    restore(aRecord({ revision: 108, before: 103, previous: 103 }))
    expect(() => restore(aRecord({ revision: 109, before: 99, previous: 108 }))).toThrow(DamagedRecord)
    expect(timeline.history.events).toBe(2)
  })
})
