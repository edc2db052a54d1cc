import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StoreOptions } from '../../../../apiservice/store/options.ts'
import { openRevisionStore } from '../../../../apiservice/store/revision-store.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'
import { aBody, aKey, created, inScope, Recorder, shownItems } from '../../../conformance/store/harness.ts'
import { CheckedStore } from '../../../support/checked-store.ts'
import { FaultyDisk } from '../../../support/faulty-log.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const unknownOutcome = {
  code: 503,
  reason: 'ServiceUnavailable',
  message: expect.stringContaining('unknown whether'),
}
const notTaken = { code: 503, reason: 'ServiceUnavailable', message: expect.stringContaining('cannot write') }

let disk: FaultyDisk
let store: CheckedStore
let clock: ReturnType<typeof manualClock>
let log: ReturnType<typeof memoryLogger>

async function open(options: Partial<StoreOptions> = {}): Promise<CheckedStore> {
  return new CheckedStore(await openRevisionStore(disk.open, { clock, log, metrics: noMetrics, ...options }))
}

beforeEach(async () => {
  disk = new FaultyDisk()
  clock = manualClock()
  log = memoryLogger()
  store = await open()
})

afterEach(async () => {
  if (!store.isClosed) await store.verify()
  await store.close()
})

describe('group commit', () => {
  it('shares one batch among writes of one turn, and another among those that come meanwhile', async () => {
    disk.hold()
    const first = Array.from({ length: 8 }, (_, index) => store.create(aKey(`a/n${index}`), aBody('x')))
    await disk.arrived(1)
    const second = Array.from({ length: 24 }, (_, index) => store.create(aKey(`b/n${index}`), aBody('x')))
    disk.release()
    await Promise.all([...first, ...second])
    expect(disk.batches.map(batch => batch.append.length)).toEqual([8, 24])
  })

  it('answers nothing and shows nothing before the log has answered', async () => {
    const before = store.revision()
    const watch = new Recorder(store, inScope(), before)
    await watch.reached(before)
    let answers = 0
    disk.hold()
    const writing = store.create(aKey('shop/web'), aBody('x')).then(() => answers++)
    const refused = store.update(aKey('shop/web'), before, aBody('y')).then(() => answers++)
    await disk.arrived(1)
    await settled()
    expect([answers, store.revision(), watch.events.length]).toEqual([0, before, 0])
    expect(await store.get(aKey('shop/web'))).toBeUndefined()
    expect((await store.list(inScope(), { limit: 0 })).items).toEqual([])
    disk.release()
    await Promise.all([writing, refused])
    expect(await watch.reached(store.revision())).toHaveLength(1)
  })

  it('puts at most a bounded number of writes into one batch', async () => {
    await Promise.all(Array.from({ length: 2500 }, (_, index) => created(store, aKey(`a/n${index}`))))
    expect(disk.batches.map(batch => batch.append.length)).toEqual([1000, 1000, 500])
  })

  it('bounds the bytes of a batch and of what waits', async () => {
    const body = Buffer.alloc(3 * 1024 * 1024)
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) => store.create(aKey(`a/n${index}`), body)),
    )
    const taken = results.filter(result => result.status === 'fulfilled').length
    expect(taken).toBe(22)
    expect(Math.max(...disk.batches.map(batch => batch.append.length))).toBe(2)
    expect(results.at(-1)).toMatchObject({ reason: { code: 429 } })
  })

  it('refuses a body beyond every bound', async () => {
    await expect(store.create(aKey('a/n'), Buffer.alloc(8 * 1024 * 1024 + 1))).rejects.toMatchObject({
      code: 413,
    })
  })

  it('writes nothing for writes that are refused', async () => {
    expect(await store.delete(aKey('shop/web'), 7)).toEqual({ done: false, current: undefined })
    expect(disk.batches).toEqual([])
  })

  it('drops forgotten history in few steps when there is nothing to write, and in small ones beside writes', async () => {
    for (let index = 0; index < 4; index++) {
      await Promise.all(Array.from({ length: 200 }, (_, at) => created(store, aKey(`a/n${index}-${at}`))))
    }
    const gone = (await store.list(inScope(), { limit: 0 })).items
    await Promise.all(gone.map(object => store.delete(object, object.revision)))
    disk.batches.length = 0
    await store.compact(store.revision())
    expect(disk.batches).toHaveLength(1)
    expect(disk.disk.records.size).toBe(0)
    expect(disk.disk.start).toEqual({ floor: store.revision(), live: 0 })
    for (let index = 0; index < 300; index++) {
      const revision = await created(store, aKey(`b/n${index}`))
      await store.delete(aKey(`b/n${index}`), revision)
    }
    disk.batches.length = 0
    const compacted = store.compact(store.revision())
    const writes = Array.from({ length: 3 }, (_, at) => created(store, aKey(`c/n${at}`)))
    await Promise.all([compacted, ...writes])
    expect(disk.batches[0]?.append).toHaveLength(3)
    expect(disk.batches[0]?.drop.length).toBe(256)
  })
})

describe('a log that fails', () => {
  it('answers 503 and changes nothing when the batch did not happen', async () => {
    await created(store, aKey('shop/web'))
    const before = store.revision()
    disk.writeFaults.push('before')
    await expect(store.create(aKey('shop/api'), aBody('x'))).rejects.toMatchObject(unknownOutcome)
    await clock.advance(100)
    expect(store.revision()).toBe(before)
    expect(await store.get(aKey('shop/api'))).toBeUndefined()
  })

  it('shows what happened after all, once it has opened the log again', async () => {
    const watch = new Recorder(store, inScope(), store.revision())
    disk.writeFaults.push('after')
    await expect(store.create(aKey('shop/api'), aBody('x'))).rejects.toMatchObject(unknownOutcome)
    expect(await store.get(aKey('shop/api'))).toBeUndefined()
    await clock.advance(100)
    expect(await store.get(aKey('shop/api'))).toMatchObject({ revision: store.revision() })
    expect(await watch.reached(store.revision())).toEqual([`PUT shop/api@${store.revision()}`])
  })

  it.each(['before', 'after'] as const)(
    'writes again without a restart and uses no revision twice (%s)',
    async fault => {
      const used = await created(store, aKey('shop/a'))
      disk.writeFaults.push(fault)
      await expect(store.create(aKey('shop/b'), aBody('x'))).rejects.toMatchObject(unknownOutcome)
      await clock.advance(100)
      expect(await created(store, aKey('shop/c'))).toBeGreaterThan(used + 1)
      await store.close()
      const reopened = await open()
      const { items } = await reopened.list(inScope(), { limit: 0 })
      expect(items.map(item => item.name)).toEqual(fault === 'after' ? ['a', 'b', 'c'] : ['a', 'c'])
      await reopened.verify()
      await reopened.close()
    },
  )

  it('refuses what waits behind the failed batch and what comes while it is broken; reads go on', async () => {
    await created(store, aKey('shop/web'))
    disk.hold()
    disk.writeFaults.push('before')
    const failing = store.create(aKey('shop/a'), aBody('x'))
    await disk.arrived(2)
    const waiting = store.create(aKey('shop/b'), aBody('x'))
    disk.release()
    await expect(failing).rejects.toMatchObject(unknownOutcome)
    await expect(waiting).rejects.toMatchObject(notTaken)
    await expect(store.create(aKey('shop/c'), aBody('x'))).rejects.toMatchObject(notTaken)
    expect((await store.list(inScope(), { limit: 0 })).items).toHaveLength(1)
    const watch = new Recorder(store, inScope(), store.oldest())
    expect(await watch.reached(store.revision())).toHaveLength(1)
    await clock.advance(100)
    await created(store, aKey('shop/d'))
  })

  it('tries again until the log can be opened', async () => {
    disk.writeFaults.push('before')
    disk.offline = new Error('no space left on device')
    await expect(store.create(aKey('shop/a'), aBody('x'))).rejects.toMatchObject(unknownOutcome)
    await clock.advance(60_000)
    await expect(store.create(aKey('shop/a'), aBody('x'))).rejects.toMatchObject(notTaken)
    disk.offline = undefined
    await clock.advance(10_000)
    await created(store, aKey('shop/a'))
    expect(log.lines.map(line => line.message)).toEqual([
      'store write failed',
      ...Array.from({ length: log.lines.length - 2 }, () => 'store cannot be opened again'),
      'store writes again',
    ])
  })

  it('stays closed for writes while the log lacks something that was answered', async () => {
    await created(store, aKey('shop/a'))
    const kept = await created(store, aKey('shop/b'))
    await store.compact(kept)
    disk.writeFaults.push('before')
    await expect(store.create(aKey('shop/c'), aBody('x'))).rejects.toMatchObject(unknownOutcome)
    const lost = disk.disk.records.get(kept)
    disk.disk.records.delete(kept)
    await clock.advance(60_000)
    await expect(store.create(aKey('shop/c'), aBody('x'))).rejects.toMatchObject(notTaken)
    expect(store.fault()).toBe('its disk has lost changes')
    expect(shownItems(await store.list(inScope(), { limit: 0 }))).toHaveLength(2)
    if (lost !== undefined) disk.disk.records.set(kept, lost)
    await clock.advance(10_000)
    await created(store, aKey('shop/c'))
  })

  it('repeats drops that failed', async () => {
    const first = await created(store, aKey('shop/a'))
    await store.delete(aKey('shop/a'), first)
    disk.writeFaults.push('before', 'after')
    const compacted = store.compact(store.revision())
    await clock.advance(1000)
    await compacted
    expect(disk.disk.records.size).toBe(0)
  })

  it('can be closed while it is broken', async () => {
    disk.writeFaults.push('before')
    disk.offline = new Error('gone')
    await expect(store.create(aKey('shop/a'), aBody('x'))).rejects.toMatchObject(unknownOutcome)
    const watch = new Recorder(store, inScope(), store.revision())
    await store.close()
    expect(await watch.end()).toBe('closed')
    expect(clock.pending).toBe(0)
  })
})

describe('a log that does not answer', () => {
  /** A write under way, one that waits behind it, and the time after which both are given up. */
  async function hang(): Promise<readonly Promise<unknown>[]> {
    disk.hold()
    const underWay = store.create(aKey('shop/a'), aBody('x'))
    await disk.arrived(disk.batches.length + 1)
    const waiting = store.create(aKey('shop/b'), aBody('x'))
    const told = [
      expect(underWay).rejects.toMatchObject(unknownOutcome),
      expect(waiting).rejects.toMatchObject(notTaken),
    ]
    await clock.advance(10_000)
    return told
  }

  it('gets no more writes after a while, and says why; reads and watches go on', async () => {
    await created(store, aKey('shop/web'))
    await Promise.all(await hang())
    await expect(store.create(aKey('shop/c'), aBody('x'))).rejects.toMatchObject({
      code: 503,
      message: 'the store cannot write at the moment: its disk does not answer',
      details: { retryAfterSeconds: 1 },
    })
    expect(store.fault()).toBe('its disk does not answer')
    expect((await store.list(inScope(), { limit: 0 })).items).toHaveLength(1)
    const watch = new Recorder(store, inScope(), store.oldest())
    expect(await watch.reached(store.revision())).toHaveLength(1)
    disk.release()
  })

  it.each([undefined, 'before', 'after'] as const)(
    'shows what became of the write once it answers, and writes again (fault: %s)',
    async fault => {
      const before = await created(store, aKey('shop/web'))
      const watch = new Recorder(store, inScope(), before)
      if (fault !== undefined) disk.writeFaults.push(fault)
      await Promise.all(await hang())
      await clock.advance(120_000)
      expect(store.revision()).toBe(before)
      disk.release()
      await clock.advance(1000)
      expect(store.fault()).toBeUndefined()
      const last = await created(store, aKey('shop/c'))
      const made = fault === 'before' ? [] : [`PUT shop/a@${before + 1}`]
      expect(await watch.reached(last)).toEqual([...made, `PUT shop/c@${last}`])
      expect(await store.get(aKey('shop/b'))).toBeUndefined()
      expect(log.lines.map(line => line.message)).toEqual([
        'store write hangs',
        ...(fault === undefined ? [] : ['store write failed']),
        'store writes again',
      ])
    },
  )

  it('is not complained of when it answers in time', async () => {
    disk.hold()
    const slow = store.create(aKey('shop/a'), aBody('x'))
    await disk.arrived(1)
    await clock.advance(9999)
    disk.release()
    expect(await slow).toMatchObject({ done: true })
    expect(log.lines).toEqual([])
  })
})

describe('the fault of a log', () => {
  it.each([
    ['IO error: /home/000003.log: No space left on device', 'its disk is full'],
    ['IO error: /home/000003.log: Input/output error', 'its disk has errors'],
    ['IO error: /home/LOCK: Read-only file system', 'its disk is read-only'],
    ['IO error: /home/000003.log: Disk quota exceeded', 'the quota of its disk is used up'],
    ['something else in /home', 'its disk fails'],
  ])('is told without the names of files (%s)', async (said, fault) => {
    disk.writeFaults.push('before')
    disk.offline = new Error(said)
    await expect(store.create(aKey('shop/a'), aBody('x'))).rejects.toMatchObject(unknownOutcome)
    await clock.advance(1000)
    expect(store.fault()).toBe(fault)
    disk.offline = undefined
    await clock.advance(10_000)
    expect(store.fault()).toBeUndefined()
  })
})

describe('a history that grows too large', () => {
  it.each([{ historyEvents: 2 }, { historyBytes: 1500 }])(
    'is cut, and the cut is counted (%j)',
    async bounds => {
      await store.close()
      const metrics = prometheus()
      store = await open({ ...bounds, metrics })
      const start = store.oldest()
      for (let count = 0; count < 5; count++) await created(store, aKey(`shop/n${count}`))
      expect(await new Recorder(store, inScope(), start).end()).toBe('expired')
      expect(await metrics.text()).toContain('isthmus_store_history_cut_total 3')
    },
  )

  it('is not counted as cut when its time has come', async () => {
    await store.close()
    const metrics = prometheus()
    store = await open({ historyMs: 1000, metrics })
    for (let count = 0; count < 5; count++) await created(store, aKey(`shop/n${count}`))
    await clock.advance(60_000)
    expect(store.oldest()).toBe(store.revision())
    const text = await metrics.text()
    expect(text).toContain('isthmus_store_history_cut_total 0')
    expect(text).toContain('isthmus_store_history_events 0')
    expect(text).toContain('isthmus_store_objects 5')
  })
})

describe('reads of the history', () => {
  it('answer 503 while the log cannot be read, and end watches that need it', async () => {
    const first = await created(store, aKey('shop/a'))
    await store.update(aKey('shop/a'), first, aBody('second'))
    await store.close()
    store = await open({ cacheBytes: 0 })
    disk.offline = new Error('input/output error')
    const list = store.list(inScope(), { revision: first, limit: 0 })
    await expect(list).rejects.toMatchObject({ code: 503 })
    expect(await new Recorder(store, inScope(), store.oldest()).end()).toBe('expired')
    disk.offline = undefined
    expect((await store.list(inScope(), { revision: first, limit: 0 })).items).toHaveLength(1)
  })

  it('hand out one instance of an old version to all who read it at once', async () => {
    const first = await created(store, aKey('shop/a'))
    await store.update(aKey('shop/a'), first, aBody('second'))
    await store.update(
      aKey('shop/b'),
      await created(store, aKey('shop/b'), 'x'.repeat(1500)),
      aBody('second'),
    )
    await store.close()
    // Just enough for the first version of b, which is the last one that is read when the store opens.
    store = await open({ cacheBytes: 2000 })
    const lists = [1, 2, 3].map(() => store.list(inScope(), { revision: first, limit: 0 }))
    const [one, ...others] = (await Promise.all(lists)).map(list => list.items[0])
    expect(one).toMatchObject({ revision: first })
    for (const other of others) expect(other).toBe(one)
  })

  it('bring nothing to a watch that was stopped meanwhile', async () => {
    const first = await created(store, aKey('shop/a'))
    await store.update(aKey('shop/a'), first, aBody('second'))
    await store.close()
    store = await open({ cacheBytes: 0 })
    disk.hold()
    const watch = new Recorder(store, inScope(), store.oldest())
    await settled()
    watch.stop()
    disk.release()
    await settled()
    expect([watch.calls, watch.ended]).toEqual([0, undefined])
  })

  it('find old versions in the log when none fit into memory', async () => {
    await store.close()
    store = await open({ cacheBytes: 0 })
    let revision = await created(store, aKey('shop/a'), '0')
    const revisions = [revision]
    for (let count = 1; count < 20; count++) {
      const result = await store.update(aKey('shop/a'), revision, aBody(`${count}`))
      if (result.done) revision = result.object.revision
      revisions.push(revision)
    }
    const listed = await Promise.all(revisions.map(at => store.list(inScope(), { revision: at, limit: 0 })))
    expect(listed.map(list => list.items[0]?.body)).toEqual(revisions.map((_, count) => aBody(`${count}`)))
  })
})
