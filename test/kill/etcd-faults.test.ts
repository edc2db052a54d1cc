// What a store makes of an etcd that is away, full, compacted by others or put back, and what it says of it.
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { EtcdClient } from '../../apiservice/store/etcd/client.ts'
import { type EtcdSettings, openEtcdStore } from '../../apiservice/store/etcd/open.ts'
import type { Store } from '../../apiservice/store-contract.ts'
import { openServerIdentity } from '../../src/identity/server-identity.ts'
import { never } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { type LogLine, memoryLogger, silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import {
  aBody,
  aKey,
  created,
  deleted,
  inScope,
  Recorder,
  shownItems,
  updated,
} from '../conformance/store/harness.ts'
import { Etcd, type EtcdOptions, withoutEtcd } from '../support/etcd.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { Wire } from '../support/wire.ts'

const patienceMs = 60_000
const prefix = '/isthmus/hub'

const cleanups: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function startEtcd(options?: EtcdOptions): Promise<Etcd> {
  const etcd = await Etcd.start(options)
  cleanups.push(() => etcd.stop())
  return etcd
}

async function opened(
  servers: readonly URL[],
  settings: Partial<EtcdSettings> & { readonly historyMs?: number; readonly logged?: LogLine[] } = {},
): Promise<Store> {
  const { logged, historyMs, ...etcd } = settings
  const store = await openEtcdStore({
    clock: systemClock,
    log: logged === undefined ? silentLogger : memoryLogger(logged),
    metrics: noMetrics,
    ...(historyMs === undefined ? {} : { historyMs }),
    etcd: { servers, prefix, place: 'etcd://here/isthmus/hub', tls: () => ({}), ...etcd },
  })
  cleanups.push(() => store.close())
  return store
}

/** Somebody else on the same etcd. */
function stranger(etcd: Etcd): EtcdClient {
  const options = { servers: etcd.servers, place: 'etcd://here', tls: () => ({}) }
  const client = new EtcdClient({ ...options, clock: systemClock, log: silentLogger, metrics: noMetrics })
  cleanups.push(() => client.close())
  return client
}

async function put(client: EtcdClient, key: string, value = 'x'): Promise<number> {
  const operations = [{ put: Buffer.from(key), value: Buffer.from(value) }]
  const answer = await client.transact({ conditions: [], operations }, never)
  return answer.done ? answer.revision : 0
}

describe.skipIf(withoutEtcd !== undefined)(withoutEtcd ?? 'a store in etcd', () => {
  it('does not move with the keys of others, and does not wait for them', async () => {
    const etcd = await startEtcd()
    const store = await opened(etcd.servers)
    const revision = await created(store, aKey('shop/web'))
    const other = stranger(etcd)
    for (let count = 0; count < 20; count++) {
      await put(other, `/somebody/else-${count}`)
      expect((await store.get(aKey('shop/web')))?.revision).toBe(revision)
      expect((await store.list(inScope(), { limit: 0 })).revision).toBe(revision)
    }
    expect(store.revision()).toBe(revision)
  })

  it('says that etcd is away, and goes on where it was when it is back', async () => {
    const etcd = await startEtcd()
    const store = await opened(etcd.servers)
    const first = await created(store, aKey('shop/web'))
    const watch = new Recorder(store, inScope(), first)
    const [member] = etcd.members
    await member?.kill()
    await eventually(() => expect(store.fault()).toBeDefined())
    await expect(created(store, aKey('shop/late'))).rejects.toMatchObject({ code: 503 })
    await expect(store.get(aKey('shop/web'))).rejects.toMatchObject({ code: 503 })
    expect(shownItems(await store.list(inScope(), { revision: first, limit: 0 }))).toEqual([
      `shop/web@${first}`,
    ])
    member?.start()
    const second = await eventually(() => updated(store, aKey('shop/web'), first, 'second'), patienceMs)
    expect(await watch.reached(second)).toEqual([`PUT shop/web@${second} after ${first}`])
    expect(store.fault()).toBeUndefined()
  }, 120_000)

  it('reads everything again when others have compacted what it missed', async () => {
    const etcd = await startEtcd()
    const wire = await Wire.to(etcd.servers[0] ?? new URL('http://nowhere'))
    cleanups.push(() => wire.close())
    const [near, far] = [await opened(etcd.servers), await opened([wire.url])]
    const first = await created(near, aKey('shop/web'))
    await far.get(aKey('shop/web'))
    const watch = new Recorder(far, inScope(), first)
    await watch.reached(first)
    wire.cut()
    await deleted(near, aKey('shop/gone'), await created(near, aKey('shop/gone')))
    const second = await updated(near, aKey('shop/web'), first, 'second')
    const other = stranger(etcd)
    const theirs = await put(other, '/somebody/else')
    await other.compact(theirs, never)
    wire.mend()
    expect(await watch.end()).toBe('expired')
    const list = await eventually(() => far.list(inScope(), { limit: 0 }), patienceMs)
    expect(shownItems(list)).toEqual([`shop/web@${second}`])
    // What the server that read again shows is no later than what the others do.
    expect(list.revision).toBe(theirs)
    expect(far.oldest()).toBe(theirs)
    expect((await near.list(inScope(), { limit: 0 })).revision).toBe(theirs)
    expect(await new Recorder(near, inScope(), second).end()).toBe('expired')
    const third = await updated(far, aKey('shop/web'), second, 'third')
    expect(await new Recorder(near, inScope(), theirs).reached(third)).toHaveLength(1)
  }, 120_000)

  it('is compacted by one server for all, by time', async () => {
    const etcd = await startEtcd()
    const stores = [
      await opened(etcd.servers, { historyMs: 10_000 }),
      await opened(etcd.servers, { historyMs: 10_000 }),
    ]
    const [one] = stores
    if (one === undefined) throw new Error('there is no store')
    let revision = await created(one, aKey('shop/web'))
    for (let count = 0; count < 5; count++)
      revision = await updated(one, aKey('shop/web'), revision, `${count}`)
    await eventually(() => {
      for (const store of stores) expect(store.oldest()).toBe(revision)
    }, patienceMs)
    const other = stranger(etcd)
    const query = { key: Buffer.from('/x'), revision: revision - 1 }
    await eventually(() => expect(other.range(query, never)).rejects.toMatchObject({ code: 11 }), patienceMs)
    const late = await opened(etcd.servers)
    expect(shownItems(await late.list(inScope(), { limit: 0 }))).toEqual([`shop/web@${revision}`])
    expect([late.oldest(), late.revision()]).toEqual([revision, revision])
  }, 120_000)

  it('answers 503 while etcd is full, says so, and writes again without a restart', async () => {
    const etcd = await startEtcd({ flags: ['--quota-backend-bytes=4194304'] })
    const store = await opened(etcd.servers)
    const body = Buffer.alloc(400_000, 'x')
    const fill = async (): Promise<void> => {
      for (let count = 0; count < 50; count++) await store.create(aKey(`shop/n${count}`), body)
    }
    await expect(fill()).rejects.toMatchObject({
      code: 503,
      message: expect.stringContaining('etcd is full'),
    })
    expect(store.fault()).toBe('etcd is full')
    const { items } = await store.list(inScope(), { limit: 0 })
    expect(items.length).toBeGreaterThan(2)
    // Deletions need no space, and are how it is made.
    for (const item of items) await deleted(store, item, item.revision)
    expect(store.fault()).toBe('etcd is full')
    await mended(etcd, store.revision())
    await eventually(() => expect(store.fault()).toBeUndefined(), patienceMs)
    await created(store, aKey('shop/web'))
  }, 120_000)

  it('reads everything again from an etcd that was put back', async () => {
    const etcd = await startEtcd()
    const logged: LogLine[] = []
    const store = await opened(etcd.servers, { logged })
    const first = await created(store, aKey('shop/web'))
    const [member] = etcd.members
    const [data, copy] = [join(etcd.folder, 'm0'), join(etcd.folder, 'copy')]
    await member?.kill()
    cpSync(data, copy, { recursive: true })
    member?.start()
    const second = await eventually(() => updated(store, aKey('shop/web'), first, 'second'), patienceMs)
    const watch = new Recorder(store, inScope(), second)
    await watch.reached(second)
    await member?.kill()
    rmSync(data, { recursive: true })
    cpSync(copy, data, { recursive: true })
    member?.start()
    const shown = new Set<number | undefined>()
    await eventually(async () => {
      shown.add((await store.get(aKey('shop/web')))?.revision)
      expect(shown).toContain(first)
    }, patienceMs)
    // Nobody is answered from what etcd has forgotten.
    expect([...shown]).toEqual([first])
    expect(await watch.end()).toBe('expired')
    expect(logged.map(({ message }) => message)).toContain('store was read again')
    await eventually(() => updated(store, aKey('shop/web'), first, 'again'), patienceMs)
  }, 120_000)

  it('is asked over TLS with a certificate, and nothing else is', async () => {
    const folder = temporaryFolder()
    cleanups.push(() => folder.dispose())
    const file = (name: string): string => join(folder.path, name)
    const named = { name: 'etcd', names: ['127.0.0.1'] as const, clock: systemClock }
    const identity = await openServerIdentity({ ...named, folder: file('pki') })
    const client = await identity.client('client', { user: 'isthmus', groups: [] })
    const pem = { 'ca.crt': identity.caBundle, 'serving.crt': identity.serving.certificate }
    for (const [name, text] of Object.entries({ ...pem, 'serving.key': identity.serving.key })) {
      writeFileSync(file(name), text)
    }
    const flags = [`--cert-file=${file('serving.crt')}`, `--key-file=${file('serving.key')}`]
    const trust = ['--client-cert-auth', `--trusted-ca-file=${file('ca.crt')}`]
    const etcd = await startEtcd({ scheme: 'https', flags: [...flags, ...trust] })
    const shown = { cert: Buffer.from(client.certificate), key: Buffer.from(client.key) }
    const ca = Buffer.from(identity.caBundle)
    const store = await opened(etcd.servers, { tls: () => ({ ca, ...shown }) })
    await created(store, aKey('shop/web'))
    const unreachable = { problem: 'unreachable' }
    const asLocalhost = etcd.servers.map(({ port }) => new URL(`https://localhost:${port}`))
    await expect(opened(asLocalhost, { tls: () => ({ ca, ...shown }) })).rejects.toMatchObject(unreachable)
    await expect(opened(etcd.servers, { tls: () => ({ ca }) })).rejects.toMatchObject(unreachable)
    await expect(opened(etcd.servers, { tls: () => shown })).rejects.toMatchObject(unreachable)
    const plain = etcd.servers.map(({ host }) => new URL(`http://${host}`))
    await expect(opened(plain)).rejects.toMatchObject(unreachable)
  }, 120_000)

  it('leaves what it has not written alone', async () => {
    const etcd = await startEtcd()
    await put(stranger(etcd), `${prefix}/objects/foreign`)
    await expect(opened(etcd.servers)).rejects.toMatchObject({ problem: 'foreign' })
    const store = await opened(etcd.servers, { prefix: '/isthmus/other' })
    await put(stranger(etcd), '/isthmus/other/objects/a/b/c', 'no value of a store')
    await created(store, aKey('shop/web'))
    expect((await store.snapshot()).items).toHaveLength(1)
  })

  it('reads nothing of a store that somebody has put in the place of its own', async () => {
    const etcd = await startEtcd()
    const store = await opened(etcd.servers)
    await created(store, aKey('shop/web'))
    await put(stranger(etcd), `${prefix}/format`, '{"format":2,"schema":1,"shift":1000000}')
    await eventually(() => expect(store.fault()).toContain('is another one by now: start the server again'))
    await expect(store.get(aKey('shop/web'))).rejects.toMatchObject({ code: 503 })
    await expect(store.create(aKey('shop/api'), aBody('x'))).rejects.toMatchObject({ code: 503 })
    const again = await opened(etcd.servers)
    expect((await again.get(aKey('shop/web')))?.revision).toBeGreaterThan(1_000_000)
  })

  it('refuses what a newer release has written, also while it runs', async () => {
    const etcd = await startEtcd()
    const store = await opened(etcd.servers)
    await put(stranger(etcd), `${prefix}/format`, '{"format":3,"schema":1}')
    await eventually(() => expect(store.fault()).toContain('was written by a newer release'))
    await expect(store.create(aKey('shop/web'), aBody('x'))).rejects.toMatchObject({ code: 503 })
    await expect(opened(etcd.servers)).rejects.toThrow(
      /^the store in etcd:.* was written by a newer release \(format 3, schema 1; this release knows format 2, schema 1\)$/,
    )
  })
})

/** What an administrator does with `etcdctl compact --physical`, `defrag` and `alarm disarm`. */
async function mended(etcd: Etcd, revision: number): Promise<void> {
  await told(etcd, 'kv/compaction', { revision, physical: true })
  await told(etcd, 'maintenance/defragment', {})
  const { alarms } = await told(etcd, 'maintenance/alarm', { action: 'GET' })
  for (const alarm of alarms ?? []) await told(etcd, 'maintenance/alarm', { ...alarm, action: 'DEACTIVATE' })
}

/** etcd answers JSON, too. */
async function told(
  etcd: Etcd,
  path: string,
  body: object,
): Promise<{ readonly alarms?: readonly object[] }> {
  const answer = await fetch(new URL(`/v3/${path}`, etcd.servers[0]), {
    method: 'POST',
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
  return answer.json() as Promise<{ readonly alarms?: readonly object[] }> // as it describes itself
}
