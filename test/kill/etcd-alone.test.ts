// What must have its objects in etcd alone, as real processes: a second one, one that stood still, one that was killed.
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EtcdClient } from '../../apiservice/store/etcd/client.ts'
import { never } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Etcd, withoutEtcd } from '../support/etcd.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { listenAt, runToEnd } from '../support/role-process.ts'
import { exportsPath, hub, patienceMs, Served } from './served.ts'

const prefix = (name: string): string => `/alone/${name}`

describe.skipIf(withoutEtcd !== undefined)(withoutEtcd ?? 'a store in etcd that is for one process', () => {
  const folder = temporaryFolder()
  const servers: Served[] = []
  let etcd: Etcd
  let count = 0
  let store: readonly string[]
  beforeAll(async () => {
    etcd = await Etcd.start()
  })
  beforeEach(() => {
    store = ['--store', `etcd://${etcd.servers[0]?.host}`, '--etcd-prefix', prefix(String(count++))]
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.kill()
  })
  afterAll(async () => {
    await etcd.stop()
    folder.dispose()
  })

  async function started(role?: typeof hub, ...settings: readonly string[]): Promise<Served> {
    const server = new Served(join(folder.path, `${count}-${servers.length}`), undefined, role)
    servers.push(server)
    await server.start(...store, ...settings)
    return server
  }

  /** What a process says that does not start. */
  async function refused(command: string, ...settings: readonly string[]): Promise<string> {
    const own = listenAt(join(folder.path, 'refused'), await freePorts())
    const { code, output } = await runToEnd([command, ...own, ...store, ...settings], /^ready/)
    expect(code).toBe(1)
    return output.split('\n').at(-1) ?? ''
  }

  it('is compared by what a key holds, besides its revision', async () => {
    const logging = { clock: systemClock, log: silentLogger, metrics: noMetrics }
    const client = new EtcdClient({ servers: etcd.servers, place: 'etcd', tls: () => ({}), ...logging })
    const key = Buffer.from('/compared')
    const [value, other] = [Buffer.from('a'), Buffer.from('b')]
    const put = { conditions: [], operations: [{ put: key, value }] }
    const made = await client.transact(put, never)
    const revision = made.done ? made.revision : 0
    const isDone = async (held: Buffer): Promise<boolean> =>
      (await client.transact({ conditions: [{ key, revision, value: held }], operations: [] }, never)).done
    expect([await isDone(value), await isDone(other)]).toEqual([true, false])
    client.close()
  })

  it('lets no second API server start beside the first, and the next when that one has stopped', async () => {
    const first = await started()
    expect(await refused('apiserver')).toMatch(
      new RegExp(
        `^isthmus: the store in \\S+ is in use by process ${first.pid} on \\S+ since \\S+, and this one must have it alone: stop the other process first$`,
      ),
    )
    expect((await first.create('a')).status).toBe(201)
    await first.kill()
    const second = await started()
    expect((await second.client.send(`${exportsPath}/a`)).status).toBe(200)
  }, 120_000)

  it('takes nothing from an API server that stood still while another one took its place', async () => {
    const first = await started()
    process.kill(first.pid, 'SIGSTOP')
    const second = await started()
    expect((await second.create('a')).status).toBe(201)
    process.kill(first.pid, 'SIGCONT')
    expect(await first.create('b')).toMatchObject({ status: 503, json: { reason: 'ServiceUnavailable' } })
    await eventually(async () => {
      const { text } = await first.client.send('/readyz/store')
      expect(text).toMatch(
        new RegExp(
          `is in use by process ${second.pid} .*: stop the other process first, and start this one again`,
        ),
      )
    }, patienceMs)
    expect((await first.client.send('/livez')).status).toBe(200)
    expect((await second.create('c')).status).toBe(201)
    await second.expectAll()
  }, 120_000)

  it('lets a hub without an election have it alone only', async () => {
    const alone = await started(hub, '--leader-elect', 'false')
    const inUse = `isthmus: the store in \\S+ is in use by process ${alone.pid} on \\S+ since \\S+`
    expect(await refused('hub')).toMatch(
      new RegExp(`^${inUse}, which must have it alone: stop the other process first$`),
    )
    expect(await refused('hub', '--leader-elect', 'false')).toMatch(
      new RegExp(`^${inUse}, and this one must have it alone: stop the other process first$`),
    )
    await alone.kill()
    await started(hub)
    await started(hub)
    expect(await refused('hub', '--leader-elect', 'false')).toMatch(/, and this one must have it alone: /)
  }, 180_000)
})
