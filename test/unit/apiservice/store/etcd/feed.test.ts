import { afterEach, describe, expect, it } from 'vitest'
import { Feed } from '../../../../../apiservice/store/etcd/feed.ts'
import { Progress } from '../../../../../apiservice/store/etcd/progress.ts'
import { systemClock } from '../../../../../src/kernel/clock.ts'
import { silentLogger } from '../../../../../src/kernel/log.ts'
import { eventually } from '../../../../support/eventually.ts'
import { MemoryEtcd } from '../../../../support/memory-etcd.ts'

const stop: AbortController[] = []
afterEach(() => {
  for (const each of stop.splice(0)) each.abort()
})

/** A feed that runs, and what it is asked to read anew. */
function running() {
  const etcd = new MemoryEtcd()
  const progress = new Progress(systemClock)
  const startedOver: string[] = []
  /** How it is read anew. */
  const anew = { run: async (): Promise<void> => undefined }
  const feed = new Feed({
    client: etcd,
    range: { key: Buffer.from('/a'), end: Buffer.from('/b') },
    progress,
    log: silentLogger,
    take: async () => undefined,
    startOver: async why => {
      startedOver.push(why)
      await anew.run()
      progress.restart(1)
    },
  })
  const over = new AbortController()
  stop.push(over)
  void feed.run(over.signal)
  return { etcd, progress, startedOver, anew, feed }
}

const healthy = ({ etcd, feed }: Pick<ReturnType<typeof running>, 'etcd' | 'feed'>): Promise<void> =>
  eventually(() => expect([etcd.watches, feed.fault]).toEqual([1, undefined]))

describe('the feed of a store in etcd', () => {
  it('lets nobody read from memory that is lost, until it was read anew', async () => {
    const made = running()
    const { anew, feed, progress, startedOver } = made
    await healthy(made)
    const read = Promise.withResolvers<void>()
    anew.run = () => read.promise
    progress.advance(9)
    await feed.reached(9, 1000)
    feed.lose('etcd went back', progress.epoch)
    expect(feed.fault).toBe('etcd went back')
    await expect(feed.reached(4, 1000)).rejects.toMatchObject({ code: 503 })
    await eventually(() => expect(startedOver).toEqual(['etcd went back']))
    await expect(feed.reached(9, 1000)).rejects.toMatchObject({ code: 503 })
    read.resolve()
    await healthy(made)
    await feed.reached(1, 1000)
  })

  it('takes a loss that is told while memory is read anew for the same one', async () => {
    const made = running()
    const { anew, etcd, feed, progress, startedOver } = made
    await healthy(made)
    const read = Promise.withResolvers<void>()
    anew.run = () => read.promise
    const { epoch } = progress
    feed.lose('etcd went back', epoch)
    await eventually(() => expect(startedOver).toHaveLength(1))
    feed.lose('etcd went back again', epoch)
    read.resolve()
    await healthy(made)
    // Told by a read that began before.
    feed.lose('etcd went back once more', epoch)
    await healthy(made)
    etcd.cut()
    await eventually(() => expect(feed.fault).toBe('etcd: cut'))
    await healthy(made)
    expect(startedOver).toEqual(['etcd went back'])
  })

  it('opens no watch at a member that is too old', async () => {
    const made = running()
    const { etcd, feed } = made
    await healthy(made)
    etcd.before.soundMember = () => {
      throw new Error('it is of release 3.5.0')
    }
    etcd.cut()
    await eventually(() => expect(feed.fault).toBe('etcd: it is of release 3.5.0'))
    expect(etcd.watches).toBe(0)
    delete etcd.before.soundMember
    await healthy(made)
  })

  it('does not forget a loss that is told while no watch is open', async () => {
    const made = running()
    const { etcd, feed, progress, startedOver } = made
    await healthy(made)
    etcd.cut()
    await eventually(() => expect(feed.fault).toBe('etcd: cut'))
    feed.lose('etcd went back', progress.epoch)
    await eventually(() => expect(startedOver).toEqual(['etcd went back']))
    await healthy(made)
  })
})
