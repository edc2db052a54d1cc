// A backup that is put into an etcd by the command, and a command that is killed before it is done.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeBackup } from '../../apiservice/store/backup.ts'
import { EtcdClient } from '../../apiservice/store/etcd/client.ts'
import { EtcdLayout } from '../../apiservice/store/etcd/layout.ts'
import type { StoredObject } from '../../apiservice/store-contract.ts'
import { never } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { aBody } from '../conformance/store/harness.ts'
import { Etcd, withoutEtcd } from '../support/etcd.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { listenAt, runRole, runToEnd } from '../support/role-process.ts'

describe.skipIf(withoutEtcd !== undefined)(withoutEtcd ?? 'isthmus store restore into an etcd', () => {
  const folder = temporaryFolder()
  let etcd: Etcd
  let client: EtcdClient
  beforeAll(async () => {
    etcd = await Etcd.start()
    const logging = { clock: systemClock, log: silentLogger, metrics: noMetrics }
    client = new EtcdClient({ servers: etcd.servers, place: 'etcd', tls: () => ({}), ...logging })
  })
  afterAll(async () => {
    client.close()
    await etcd.stop()
    folder.dispose()
  })

  function backupOf(count: number): string {
    const items = Array.from(
      { length: count },
      (_, at): StoredObject => ({
        resource: 'configmaps',
        namespace: 'default',
        name: `n${at}`,
        revision: at + 1,
        body: aBody(`of ${at}`),
      }),
    )
    const path = join(folder.path, `${count}.backup`)
    const pieces = encodeBackup({ revision: count, items }, systemClock.now())
    writeFileSync(path, Buffer.concat([...pieces]))
    return path
  }

  const at = (prefix: string): readonly string[] => [
    '--store',
    `etcd://${etcd.servers[0]?.host}`,
    '--etcd-prefix',
    prefix,
  ]
  const restoring = (prefix: string, from: string): readonly string[] => [
    'store',
    'restore',
    ...['--home', join(folder.path, 'home'), '--from', from],
    ...at(prefix),
  ]
  const countBelow = async (prefix: string): Promise<number> =>
    (await client.range({ ...new EtcdLayout(prefix).objects, countOnly: true }, never)).count

  it('brings every object there, once', async () => {
    const file = backupOf(300)
    expect(await runRole(restoring('/whole', file))).toMatch(
      /^made a store of 300 objects in etcd:\S+\/whole, as they were at \S+; it begins at revision \d{7,}\nthere is no authority in \S+\/home\/pki: the first server that starts makes a new one/,
    )
    expect(await countBelow('/whole')).toBe(300)
    const saved = join(folder.path, 'again.backup')
    expect(await runRole(['store', 'backup', '--to', saved, ...at('/whole')])).toMatch(/^saved 300 objects /)
    // What was saved of an etcd can be put into another one.
    expect(await runRole(restoring('/again', saved))).toMatch(/^made a store of 300 objects /)
    const { code, output } = await runToEnd(restoring('/whole', file))
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/^isthmus: something is below etcd:\S+ in etcd already/),
    ])
  }, 120_000)

  it('brings the authority of the home there before any server can open the store', async () => {
    const pki = join(folder.path, 'own/pki')
    mkdirSync(pki, { recursive: true })
    for (const name of ['ca.key', 'ca.crt']) writeFileSync(join(pki, name), `the ${name}\n`)
    const into = ['--home', join(folder.path, 'own'), '--from', backupOf(10), ...at('/own')]
    expect(await runRole(['store', 'restore', ...into])).toMatch(/; it begins at revision \d+$/)
    const layout = new EtcdLayout('/own')
    const authority = { resource: 'authorities.internal.isthmus.dev', namespace: '', name: 'authority' }
    const [stored] = (await client.range({ key: layout.keyOf(authority) }, never)).items
    const [marker] = (await client.range({ key: layout.format }, never)).items
    expect(stored?.value.toString()).toContain('the ca.key')
    expect(stored?.revision).toBeLessThan(marker?.revision ?? 0)
  }, 120_000)

  it('that was killed leaves what no server opens and no other restore goes on with', async () => {
    const file = backupOf(30_000)
    const args = ['src/main.ts', ...restoring('/half', file)]
    const child: ChildProcess = spawn(process.execPath, args, { stdio: 'ignore' })
    await eventually(async () => expect(await countBelow('/half')).toBeGreaterThan(100), 60_000)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await countBelow('/half')).toBeLessThan(30_000)
    const notWhole = expect.stringMatching(
      /^isthmus: the store in etcd:\S+ was not restored to its end: remove what is below its prefix, and restore it again$/,
    )
    const own = listenAt(join(folder.path, 'hub'), await freePorts())
    expect(await runToEnd(['hub', ...own, ...at('/half')], /^ready/)).toEqual({ code: 1, output: notWhole })
    const saving = ['store', 'backup', '--to', join(folder.path, 'half.backup'), ...at('/half')]
    expect(await runToEnd(saving)).toEqual({ code: 1, output: notWhole })
    expect(await runToEnd(restoring('/half', file))).toMatchObject({
      code: 1,
      output: expect.stringContaining('something is below'),
    })
  }, 120_000)
})
