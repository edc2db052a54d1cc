import { afterEach, describe, expect, it } from 'vitest'
import { EtcdClient } from '../../../../../apiservice/store/etcd/client.ts'
import { GrpcError } from '../../../../../apiservice/store/etcd/grpc.ts'
import { never } from '../../../../../src/kernel/abort.ts'
import { type Clock, systemClock } from '../../../../../src/kernel/clock.ts'
import { silentLogger } from '../../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../../src/kernel/metrics.ts'
import { fakeEtcd } from '../../../../support/fake-etcd.ts'
import { manualClock } from '../../../../support/manual-clock.ts'

const tooOld = 'the etcd of etcd://here is of release 3.5.12'

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0).toReversed()) cleanup()
})

/** A client of members of these releases; of one that does not answer where there is none. */
async function clientOf(...versions: readonly (string | undefined)[]): Promise<EtcdClient> {
  const servers: URL[] = []
  for (const version of versions) {
    const etcd = await fakeEtcd({ status: { version } })
    if (version === undefined) etcd.stop()
    else cleanups.push(() => etcd.stop())
    servers.push(new URL(`http://127.0.0.1:${etcd.port}`))
  }
  return clientAt(servers, systemClock)
}

function clientAt(servers: readonly URL[], clock: Clock): EtcdClient {
  const logging = { clock, log: silentLogger, metrics: noMetrics }
  const client = new EtcdClient({ servers, place: 'etcd://here', tls: () => ({}), ...logging })
  cleanups.push(() => client.close())
  return client
}

describe('a request that is late', () => {
  it('takes no write of the same connection with it', async () => {
    const [arrived, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<object>()]
    const etcd = await fakeEtcd({
      range: Promise.withResolvers<object>().promise,
      txn: () => {
        arrived.resolve()
        return answered.promise
      },
    })
    cleanups.push(() => etcd.stop())
    const clock = manualClock()
    const client = clientAt([new URL(`http://127.0.0.1:${etcd.port}`)], clock)
    await client.status(never)
    const write = client.transact({ conditions: [], operations: [] }, never)
    await arrived.promise
    const signal = AbortSignal.abort(new Error('enough'))
    const read = expect(client.range({ key: Buffer.from('a') }, signal)).rejects.toThrow('enough')
    await clock.advance(4_000)
    await read
    answered.resolve({ succeeded: true })
    expect(await write).toEqual({ done: true, revision: 1 })
  })
})

describe('the members of an etcd', () => {
  it('are all refused when one that answers is too old', async () => {
    const client = await clientOf('3.6.0', '3.5.12')
    await expect(client.requireSound()).rejects.toThrow(tooOld)
  })

  it('need not all answer', async () => {
    await (await clientOf(undefined, '3.6.0')).requireSound()
    await expect((await clientOf(undefined, undefined)).requireSound()).rejects.toThrow(GrpcError)
  })

  it('are watched only when they are not too old', async () => {
    const client = await clientOf('3.5.12', '3.6.0')
    await expect(client.soundMember()).rejects.toThrow(tooOld)
    expect(await client.soundMember()).toBe(1)
    expect(await client.soundMember()).toBe(1)
  })
})
