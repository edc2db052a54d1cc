import { afterEach, describe, expect, it } from 'vitest'
import { EtcdStore } from '../../../../../apiservice/store/etcd/etcd-store.ts'
import { GrpcError, grpcCode } from '../../../../../apiservice/store/etcd/grpc.ts'
import { EtcdLayout } from '../../../../../apiservice/store/etcd/layout.ts'
import { isMade, type LoadParts, load } from '../../../../../apiservice/store/etcd/loading.ts'
import { floorIn } from '../../../../../apiservice/store/etcd/markers.ts'
import { openEtcdStore } from '../../../../../apiservice/store/etcd/open.ts'
import { withDefaults } from '../../../../../apiservice/store/options.ts'
import type { Store } from '../../../../../apiservice/store-contract.ts'
import { never } from '../../../../../src/kernel/abort.ts'
import { type Clock, systemClock } from '../../../../../src/kernel/clock.ts'
import { type LogLine, memoryLogger, silentLogger } from '../../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../../src/kernel/metrics.ts'
import { aBody, aKey, created, deleted, inScope, updated } from '../../../../conformance/store/harness.ts'
import { eventually } from '../../../../support/eventually.ts'
import { fakeEtcd } from '../../../../support/fake-etcd.ts'
import { manualClock } from '../../../../support/manual-clock.ts'
import { MemoryEtcd } from '../../../../support/memory-etcd.ts'

const patienceMs = 10_000
const layout = new EtcdLayout('/a')
const web = aKey('shop/web')

const cleanups: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

function partsOf(etcd: MemoryEtcd, logged: LogLine[] = [], clock = manualClock()): LoadParts {
  const settings = withDefaults({ clock, log: memoryLogger(logged), metrics: noMetrics, historyMs: 60_000 })
  return { client: etcd, layout, place: 'etcd://here/a', settings, shift: 0 }
}

async function opened(parts: LoadParts): Promise<EtcdStore> {
  const store = new EtcdStore(parts, await load(parts, never, isMade))
  cleanups.push(() => store.close())
  await store.opened(patienceMs)
  return store
}

async function bodyOf(store: Store): Promise<string | undefined> {
  return (await store.get(web))?.body.toString()
}

describe('a store in an etcd that is put back', () => {
  it('answers nobody from what etcd has forgotten', async () => {
    const etcd = new MemoryEtcd()
    const store = await opened(partsOf(etcd))
    const first = await created(store, web, 'first')
    const snapshot = etcd.state
    const second = await updated(store, web, first, 'second')
    const reading = Promise.withResolvers<void>()
    etcd.before.range = ({ countOnly }) => (countOnly === true ? undefined : reading.promise)
    etcd.state = snapshot
    await expect(store.get(web)).rejects.toMatchObject({ code: 503 })
    expect(store.fault()).toBe(`etcd went back from revision ${second} to ${first}`)
    // Others write before this server has read everything again.
    const operations = [{ put: Buffer.from('/other'), value: Buffer.from('x') }]
    while (etcd.state.revision < second) await etcd.transact({ conditions: [], operations })
    await expect(store.get(web)).rejects.toMatchObject({ code: 503 })
    await expect(store.list(inScope(), { limit: 0 })).rejects.toMatchObject({ code: 503 })
    await expect(store.create(aKey('shop/new'), aBody('x'))).rejects.toMatchObject({ code: 503 })
    reading.resolve()
    expect(await eventually(() => bodyOf(store))).toBe(aBody('first').toString())
    expect(store.fault()).toBeUndefined()
  })

  it('does not move its floor to what etcd has forgotten', async () => {
    const etcd = new MemoryEtcd()
    const clock = manualClock()
    const logged: LogLine[] = []
    const store = await opened(partsOf(etcd, logged, clock))
    let revision = await created(store, web)
    const snapshot = etcd.state
    for (let count = 0; count < 5; count++) revision = await updated(store, web, revision, `${count}`)
    etcd.state = snapshot
    await clock.advance(200_000)
    await eventually(() => expect(logged.map(({ message }) => message)).toContain('store was read again'))
    const [floor] = (await etcd.range({ key: layout.floor })).items
    if (floor === undefined) throw new Error('there is no floor')
    expect(floorIn(floor).floor).toBeLessThanOrEqual(snapshot.revision)
    expect(await eventually(() => bodyOf(store))).toBe(aBody('web').toString())
  })

  it('makes no store where there is none any more', async () => {
    const etcd = new MemoryEtcd()
    const logged: LogLine[] = []
    const store = await opened(partsOf(etcd, logged))
    await created(store, web)
    const { state } = etcd
    etcd.state = new MemoryEtcd().state
    await expect(store.get(web)).rejects.toMatchObject({ code: 503 })
    await eventually(() =>
      expect(logged.find(({ message }) => message === 'store cannot be read again')).toMatchObject({
        fields: { error: 'etcd holds nothing below etcd://here/a any more' },
      }),
    )
    expect(etcd.state.events).toEqual([])
    expect(store.fault()).toBeDefined()
    etcd.state = state
    expect(await eventually(() => bodyOf(store))).toBe(aBody('web').toString())
  })
})

describe('a store in a full etcd', () => {
  it('deletes what has lost its last finalizer', async () => {
    const etcd = new MemoryEtcd()
    const store = await opened(partsOf(etcd))
    const revision = await created(store, web)
    etcd.isFull = true
    const { done } = await store.delete(web, revision, aBody('without finalizers'))
    expect(done).toBe(true)
    expect(await store.get(web)).toBeUndefined()
    expect(store.fault()).toBe('etcd is full')
  })

  it('does not know what came of such a deletion when the object is gone', async () => {
    const etcd = new MemoryEtcd()
    const store = await opened(partsOf(etcd))
    const revision = await created(store, web)
    // The request that fills it is done.
    etcd.before.transact = async ({ operations }) => {
      if (operations.length < 2) return
      await etcd.transact({ conditions: [], operations: [{ delete: layout.keyOf(web) }] })
      etcd.isFull = true
    }
    await expect(store.delete(web, revision, aBody('without'))).rejects.toMatchObject({
      code: 503,
      message: expect.stringContaining('it is unknown whether'),
    })
  })

  it('opens though its history was compacted and takes no mark', async () => {
    const etcd = new MemoryEtcd()
    const store = await opened(partsOf(etcd))
    const revision = await created(store, web)
    await deleted(store, aKey('shop/gone'), await created(store, aKey('shop/gone')))
    etcd.isFull = true
    const { revision: newest } = etcd.state
    await etcd.compact(newest)
    const other = await opened(partsOf(etcd))
    expect((await other.get(web))?.revision).toBe(revision)
    expect(other.oldest()).toBe(newest)
    etcd.isFull = false
    await other.compact(newest)
    await updated(other, web, revision, 'again')
  })
})

describe('the first reading of a store', () => {
  async function filled(count: number): Promise<MemoryEtcd> {
    const etcd = new MemoryEtcd()
    const store = await opened(partsOf(etcd))
    for (let at = 0; at < count; at++) await created(store, aKey(`shop/n${at}`))
    await store.compact(store.revision())
    return etcd
  }

  it('asks for at most twice as many objects as before', async () => {
    const etcd = await filled(800)
    const limits: number[] = []
    etcd.before.range = ({ key, limit = 0 }) => {
      if (key.toString().startsWith('/a/objects/')) limits.push(limit)
    }
    await load(partsOf(etcd), never, isMade)
    expect(limits).toEqual([100, 200, 400, 800])
  })

  it('asks for fewer objects when so many are late', async () => {
    const etcd = await filled(150)
    etcd.before.range = ({ limit = 0 }) => {
      if (limit > 30) throw new GrpcError(grpcCode.deadlineExceeded, 'no answer within 4 s')
    }
    const { replica } = await load(partsOf(etcd), never, isMade)
    expect((await replica.reads.all()).items).toHaveLength(150)
  })
})

/** The clock of the machine, and the timers that wait. */
function watchedClock() {
  const waiting = new Set<() => void>()
  const clock: Clock = {
    now: () => systemClock.now(),
    after: (delayMs, run) => {
      const cancel = systemClock.after(delayMs, () => {
        waiting.delete(cancel)
        run()
      })
      waiting.add(cancel)
      return () => {
        waiting.delete(cancel)
        cancel()
      }
    },
  }
  return { clock, waiting }
}

describe('the opening of a store', () => {
  it('fails when etcd opens no watch, and leaves nothing behind', async () => {
    const etcd = new MemoryEtcd()
    etcd.isWatchable = false
    const parts = partsOf(etcd)
    const store = new EtcdStore(parts, await load(parts, never, isMade))
    await expect(store.opened(100)).rejects.toThrow('etcd has not been heard of yet')
    await store.close()
    await eventually(() => expect(etcd.watches).toBe(0))
  })

  it('fails when etcd has no watches at all, and leaves nothing behind', async () => {
    const value = Buffer.from('{"format":1,"schema":1,"revision":1}')
    const kvs = [{ key: Buffer.from('/a/format'), value, modRevision: 1 }]
    const etcd = await fakeEtcd({ range: { kvs, count: 1 } })
    cleanups.push(() => etcd.stop())
    const servers = [new URL(`http://127.0.0.1:${etcd.port}`)]
    const { clock, waiting } = watchedClock()
    const settings = { clock, servers, prefix: '/a', place: 'etcd://here/a', tls: () => ({}) }
    const logging = { clock, log: silentLogger, metrics: noMetrics }
    await expect(openEtcdStore({ ...logging, etcd: settings })).rejects.toMatchObject({
      problem: 'unreachable',
      message: expect.stringContaining('does not implement the method'),
    })
    await eventually(() => expect(waiting.size).toBe(0))
  }, 60_000)
})
