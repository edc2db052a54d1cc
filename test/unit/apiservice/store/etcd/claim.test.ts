import { afterEach, describe, expect, it } from 'vitest'
import { Claim, type Sharing } from '../../../../../apiservice/store/etcd/claim.ts'
import { EtcdStore } from '../../../../../apiservice/store/etcd/etcd-store.ts'
import { GrpcError, grpcCode } from '../../../../../apiservice/store/etcd/grpc.ts'
import { EtcdLayout } from '../../../../../apiservice/store/etcd/layout.ts'
import { isMade, type LoadParts, load } from '../../../../../apiservice/store/etcd/loading.ts'
import { withDefaults } from '../../../../../apiservice/store/options.ts'
import { never } from '../../../../../src/kernel/abort.ts'
import { type LogLine, memoryLogger } from '../../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../../src/kernel/metrics.ts'
import { aBody, aKey, created } from '../../../../conformance/store/harness.ts'
import { eventually } from '../../../../support/eventually.ts'
import { type ManualClock, manualClock } from '../../../../support/manual-clock.ts'
import { MemoryEtcd } from '../../../../support/memory-etcd.ts'

const layout = new EtcdLayout('/a')
const patienceMs = 10_000
const keepMs = 3_000

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** An etcd whose requests are timed by a manual clock. */
class TimedEtcd extends MemoryEtcd {
  override readonly clock: ManualClock = manualClock()
}

type Server = {
  readonly store: EtcdStore
  readonly logged: readonly LogLine[]
  readonly lease: number
}

function partsOf(etcd: MemoryEtcd, logged: LogLine[] = []): LoadParts {
  const settings = withDefaults({ clock: etcd.clock, log: memoryLogger(logged), metrics: noMetrics })
  return { client: etcd, layout, place: 'etcd://here/a', settings, shift: 0 }
}

async function server(etcd: MemoryEtcd, sharing: Sharing): Promise<Server> {
  const logged: LogLine[] = []
  const parts = partsOf(etcd, logged)
  const claim = new Claim(parts, sharing)
  const loaded = await load(parts, never, isMade)
  const before = new Set(etcd.leases.keys())
  await claim.take(never)
  const lease = [...etcd.leases.keys()].find(id => !before.has(id)) ?? 0
  const store = new EtcdStore(parts, loaded, claim)
  cleanups.push(() => store.close())
  await store.opened(patienceMs)
  return { store, logged, lease }
}

/** What a second process is told while the first one keeps its lease. */
async function refused(etcd: TimedEtcd, sharing: Sharing, first: Server): Promise<unknown> {
  const taking = new Claim(partsOf(etcd), sharing).take(never).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  let isOver: boolean = false
  void taking.then(() => {
    isOver = true
  })
  for (let left = 9; !isOver; left = left > 6 ? left - 1 : 9) {
    etcd.leases.set(first.lease, left)
    await etcd.clock.advance(1_000)
  }
  return taking
}

describe('a store in etcd that a process must have alone', () => {
  it.each([
    ['alone', 'alone', /is in use by process \d+ on \S+ since \S+, and this one must have it alone/],
    ['alone', 'shared', /is in use by process \d+ on \S+ since \S+, which must have it alone/],
    ['shared', 'alone', /is in use by process \d+ on \S+ since \S+, and this one must have it alone/],
  ] as const)('which one has %s is not opened %s', async (has, wants, sentence) => {
    const etcd = new TimedEtcd()
    const first = await server(etcd, has)
    expect(await refused(etcd, wants, first)).toMatchObject({
      problem: 'locked',
      message: expect.stringMatching(sentence),
    })
    await created(first.store, aKey('shop/web'))
  })

  it('is had by several who share it', async () => {
    const etcd = new TimedEtcd()
    const [first, second] = [await server(etcd, 'shared'), await server(etcd, 'shared')]
    await created(first.store, aKey('shop/a'))
    await created(second.store, aKey('shop/b'))
  })

  it('is there for the next one when the first has closed, and when it is gone', async () => {
    const etcd = new TimedEtcd()
    const first = await server(etcd, 'alone')
    await first.store.close()
    const second = await server(etcd, 'alone')
    const third = new Claim(partsOf(etcd), 'alone').take(never)
    // Nothing is heard of the second.
    for (let left = 9; left > 0; left--) {
      etcd.leases.set(second.lease, left)
      await etcd.clock.advance(1_000)
    }
    await etcd.revokeLease(second.lease)
    await etcd.clock.advance(1_000)
    await third
  })

  it('takes nothing from a process that stood still while another one took it', async () => {
    const etcd = new TimedEtcd()
    const first = await server(etcd, 'alone')
    const web = aKey('shop/web')
    await etcd.revokeLease(first.lease)
    const second = await server(etcd, 'alone')
    // It does not know yet.
    expect(first.store.fault()).toBeUndefined()
    await expect(first.store.create(web, aBody('first'))).rejects.toMatchObject({
      code: 503,
      message: 'the store cannot write: another process has taken it, or etcd was put back',
    })
    expect(await first.store.get(web)).toBeUndefined()
    await etcd.clock.advance(keepMs)
    await eventually(() =>
      expect(first.store.fault()).toMatch(
        /is in use by process .*: stop the other process first, and start this one/,
      ),
    )
    expect(first.logged.map(({ message }) => message)).toContain('another process has taken the store')
    await created(second.store, web, 'second')
    // Also when the other one is gone: what it had decided then is old.
    await second.store.close()
    await etcd.clock.advance(keepMs)
    await expect(first.store.create(aKey('shop/b'), aBody('b'))).rejects.toMatchObject({ code: 503 })
  })

  it('goes on with a process that stood still when nobody took it', async () => {
    const etcd = new TimedEtcd()
    const { store, lease } = await server(etcd, 'alone')
    await etcd.revokeLease(lease)
    await created(store, aKey('shop/a'))
    await etcd.clock.advance(keepMs)
    await eventually(async () => expect((await etcd.range({ key: layout.lock })).count).toBe(1))
    expect(store.fault()).toBeUndefined()
    await created(store, aKey('shop/b'))
  })

  it('is claimed again in an etcd that was put back to a time before', async () => {
    const etcd = new TimedEtcd()
    await (await server(etcd, 'shared')).store.close()
    const snapshot = etcd.state
    const { store } = await server(etcd, 'alone')
    etcd.state = snapshot
    etcd.leases.clear()
    await eventually(async () => {
      await etcd.clock.advance(keepMs)
      await created(store, aKey('shop/web'))
    })
    expect(store.fault()).toBeUndefined()
  })

  it('is opened in an etcd that is full, and kept from others when there is space', async () => {
    const etcd = new TimedEtcd()
    await (await server(etcd, 'alone')).store.close()
    etcd.isFull = true
    const [first, second] = [await server(etcd, 'alone'), await server(etcd, 'alone')]
    etcd.isFull = false
    await etcd.clock.advance(2 * keepMs)
    const results = await eventually(async () => {
      const made = await Promise.allSettled(
        [first, second].map(({ store }) => store.create(aKey(`shop/${Math.random()}`), aBody('x'))),
      )
      const statuses = made.map(({ status }) => status).toSorted()
      expect(statuses).toEqual(['fulfilled', 'rejected'])
      return statuses
    })
    expect(results).toHaveLength(2)
  })

  it('is not taken for full when it has too much to do', async () => {
    const etcd = new TimedEtcd()
    await (await server(etcd, 'alone')).store.close()
    etcd.before.transact = () => {
      throw new GrpcError(grpcCode.resourceExhausted, 'etcdserver: too many requests')
    }
    await expect(new Claim(partsOf(etcd), 'alone').take(never)).rejects.toThrow('too many requests')
  })

  it('is kept from when it is taken, before anything is read', async () => {
    const etcd = new TimedEtcd()
    await (await server(etcd, 'alone')).store.close()
    const claim = new Claim(partsOf(etcd), 'alone')
    cleanups.push(() => claim.release())
    await claim.take(never)
    for (const lease of etcd.leases.keys()) await etcd.revokeLease(lease)
    expect((await etcd.range({ key: layout.lock })).count).toBe(0)
    await etcd.clock.advance(keepMs)
    await eventually(async () => expect((await etcd.range({ key: layout.lock })).count).toBe(1))
  })
})

describe('a process that claims its store again', () => {
  it('knows its own claim when the answer to it was lost', async () => {
    const etcd = new TimedEtcd()
    const { store, lease } = await server(etcd, 'alone')
    await etcd.revokeLease(lease)
    let lost = 0
    etcd.after.transact = () => {
      delete etcd.after.transact
      lost++
      throw new GrpcError(grpcCode.deadlineExceeded, 'no answer')
    }
    await etcd.clock.advance(keepMs)
    await eventually(() => expect(lost).toBe(1))
    await etcd.clock.advance(keepMs)
    await eventually(() => created(store, aKey('shop/web')))
    expect(store.fault()).toBeUndefined()
    // It is the lease of that claim that is kept.
    expect((await etcd.range({ key: layout.lock })).count).toBe(1)
    await store.close()
    expect((await etcd.range({ key: layout.lock })).count).toBe(0)
  })

  it('knows another one by more than the revision of its claim, which an etcd put back gives again', async () => {
    const etcd = new TimedEtcd()
    await (await server(etcd, 'shared')).store.close()
    const snapshot = etcd.state
    const ownerIn = async () => (await etcd.range({ key: layout.owner })).items[0]?.revision
    const first = await server(etcd, 'alone')
    const before = await ownerIn()
    etcd.state = snapshot
    etcd.leases.clear()
    const second = await server(etcd, 'alone')
    expect(await ownerIn()).toBe(before)
    await expect(first.store.create(aKey('shop/a'), aBody('a'))).rejects.toMatchObject({ code: 503 })
    await created(second.store, aKey('shop/b'))
    await eventually(async () => {
      await etcd.clock.advance(keepMs)
      expect(first.store.fault()).toMatch(/and start this one again/)
    })
    expect(second.store.fault()).toBeUndefined()
  })

  it('does not miss another one that had it for a moment meanwhile', async () => {
    const etcd = new TimedEtcd()
    const first = await server(etcd, 'alone')
    await etcd.revokeLease(first.lease)
    const { keepLease } = etcd
    let passed = 0
    etcd.keepLease = async () => {
      etcd.keepLease = keepLease
      const short = new Claim(partsOf(etcd), 'alone')
      await short.take(never)
      await short.release()
      passed++
      return false
    }
    await etcd.clock.advance(keepMs)
    await eventually(() => expect(passed).toBe(1))
    await eventually(() => expect(first.store.fault()).toMatch(/and start this one again/))
    await expect(first.store.create(aKey('shop/a'), aBody('a'))).rejects.toMatchObject({ code: 503 })
  })
})

describe('a lock that is waited for', () => {
  it('is named when no lease ends it', async () => {
    const etcd = new TimedEtcd()
    const first = await server(etcd, 'alone')
    etcd.leases.delete(first.lease)
    let told: unknown
    void new Claim(partsOf(etcd), 'alone').take(never).catch((thrown: unknown) => {
      told = thrown
    })
    for (let looks = 0; looks < 5; looks++) await etcd.clock.advance(1_000)
    expect(told).toMatchObject({
      problem: 'locked',
      message: expect.stringContaining('remove the key /a/lock'),
    })
  })

  it('may be given more time once, by a new leader of etcd', async () => {
    const etcd = new TimedEtcd()
    const first = await server(etcd, 'alone')
    const second = new Claim(partsOf(etcd), 'alone')
    cleanups.push(() => second.release())
    const taking = second.take(never)
    for (const left of [9, 8, 9, 8, 7, 6, 5]) {
      etcd.leases.set(first.lease, left)
      await etcd.clock.advance(1_000)
    }
    await etcd.revokeLease(first.lease)
    await etcd.clock.advance(1_000)
    await taking
  })
})
