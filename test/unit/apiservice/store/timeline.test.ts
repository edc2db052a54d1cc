import { beforeEach, describe, expect, it } from 'vitest'
import type { Slot } from '../../../../apiservice/store/object-index.ts'
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

/** Answers which slots are looked at from now on. */
function watchedSlots(resource: string): ReadonlySet<Slot> {
  const seen = new Set<Slot>()
  const { items } = timeline.pageAt(timeline.revision, { resources: [resource], namespace: '' }, { limit: 0 })
  for (const { slot } of items) {
    for (const [property, value] of Object.entries(slot)) {
      const get = (): unknown => {
        seen.add(slot)
        return value
      }
      Object.defineProperty(slot, property, { get })
    }
  }
  return seen
}

describe('a page of a timeline', () => {
  const count = 20_000
  const scope = { resources: ['widgets', 'gears'], namespace: '' }
  /** What finding four places in 20,000 sorted keys may look at beside the page itself. */
  const search = 4 * 2 * Math.ceil(Math.log2(count))

  beforeEach(() => {
    for (const resource of scope.resources) {
      for (let at = 0; at < count; at++) {
        const key = { resource, namespace: `ns-${at % 3}`, name: `n-${(at * 2741) % count}` }
        timeline.apply(aRecord({ key }))
      }
    }
  })

  it.each([1, 500])('of %i looks at few slots beside its own, now and at an older revision', limit => {
    const after = { resource: 'widgets', namespace: 'ns-1', name: 'n-5' }
    const old = timeline.revision
    for (let at = 0; at < 1000; at++) timeline.apply(aRecord({ key: { ...after, name: `later-${at}` } }))
    // Once it is known what the keys were.
    timeline.pageAt(old, scope, { limit: 1 })
    const seen = watchedSlots('widgets')
    const page = timeline.newest(scope, { limit, after })
    const newest = seen.size
    const pageAt = timeline.pageAt(old, scope, { limit, after })
    expect([page.items.length, pageAt.items.length]).toEqual([limit, limit])
    expect(page.remaining).toBe(pageAt.remaining)
    expect(newest).toBeLessThanOrEqual(limit + search)
    expect(seen.size).toBeLessThanOrEqual(2 * (limit + search))
  })

  it('of one namespace counts the rest of it alone, and looks at nothing else', () => {
    const seen = watchedSlots('widgets')
    const options = { limit: 10, after: { resource: 'widgets', namespace: 'ns-1', name: '' } }
    const page = timeline.newest({ resources: ['widgets'], namespace: 'ns-1' }, options)
    expect(page.remaining).toBe(Math.floor(count / 3) + 1 - 10)
    expect(seen.size).toBeLessThanOrEqual(10 + search)
  })

  it('does not look at what was deleted, however much of it is kept', () => {
    const { items } = timeline.pageAt(timeline.revision, scope, { limit: 0 })
    for (const { slot, revision } of items.slice(0, -2)) {
      timeline.apply(aRecord({ type: 'DELETE', key: slot, previous: revision }))
    }
    const seen = new Set<unknown>()
    for (const { slot } of items) {
      Object.defineProperty(slot, 'name', { get: () => seen.add(slot) && 'n' })
    }
    expect(timeline.newest(scope, { limit: 1 })).toMatchObject({ items: [{}], remaining: 1 })
    expect(seen.size).toBeLessThanOrEqual(2)
  })
})
