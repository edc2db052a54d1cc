// Three hubs on three etcds, each of them killed under load. KILLS=n makes it longer (npm run soak).
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/api/meta.ts'
import { sleep } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { eventually } from '../support/eventually.ts'
import { violation } from '../support/linearizability.ts'
import { ReplicaWatcher, type WatchedChange } from '../support/replica-watcher.ts'
import { hubs, Replicas } from '../support/replicas.ts'
import { randomOf, seed } from '../support/seed.ts'
import { configMaps, namespace, ReplicaLoad } from './replica-load.ts'

const kills = Number(process.env.KILLS ?? 6)
const clients = 6
const patienceMs = 60_000
const timeoutMs = 120_000 + kills * 20_000
const never = new AbortController().signal

describe.skipIf(withoutEtcd !== undefined)(withoutEtcd ?? 'three hubs on one etcd', () => {
  let replicas: Replicas
  beforeAll(async () => {
    replicas = await Replicas.start()
  }, timeoutMs)
  afterAll(() => replicas.stop())

  it(
    `lose no answered write, never go back, and hand watchers over (seed ${seed})`,
    async () => {
      const random = randomOf(seed)
      const load = new ReplicaLoad(replicas, random)
      const { resourceVersion } = await replicas.client('a').list(configMaps, { namespace }, never)
      const watched = { resource: configMaps, selection: { namespace }, resourceVersion }
      const watchers = hubs.map((_, first) => new ReplicaWatcher(replicas, first, watched))
      const enough = new AbortController()
      const loading = Promise.all(Array.from({ length: clients }, (_, at) => load.client(at, enough.signal)))
      for (let kill = 0; kill < kills; kill++) await killOne(replicas, random)
      enough.abort()
      await loading
      const last = Math.max(...load.written.keys())
      await eventually(
        () =>
          expect(watchers.map(({ seen }) => (seen.at(-1)?.revision ?? 0) >= last)).toEqual(
            hubs.map(() => true),
          ),
        patienceMs,
      )
      for (const watcher of watchers) await watcher.stop()

      expect(load.written.size).toBeGreaterThan(10 * kills)
      expect(violation(load.history)).toBeUndefined()
      expectNeverBack(load)
      const [first] = watchers
      const through = Math.min(...watchers.map(({ seen }) => seen.at(-1)?.revision ?? 0))
      for (const { seen } of watchers) {
        const revisions = seen.map(({ revision }) => revision)
        expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b))
        expect(seen.filter(each => each.revision <= through)).toEqual(
          first?.seen.filter(each => each.revision <= through),
        )
      }
      const shown = new Map(first?.seen.map(change => [change.revision, textOf(change)]))
      expect([...load.written].filter(([revision, text]) => shown.get(revision) !== text)).toEqual([])
      expect(Math.min(...watchers.map(({ moves }) => moves))).toBeGreaterThan(1)
    },
    timeoutMs,
  )
})

function textOf({ object }: WatchedChange): string {
  const { metadata, data } = object as KubeObject & { readonly data?: { readonly value?: string } } // a ConfigMap
  return `${metadata.name}=${data?.value}`
}

/** One of the hubs, whichever leads among them, or the etcd that leads; it is back before the next one goes. */
async function killOne(replicas: Replicas, random: () => number): Promise<void> {
  await sleep(systemClock, 500 + 1_000 * random(), never)
  const at = Math.floor(random() * (hubs.length + 1))
  const hub = hubs[at]
  if (hub !== undefined) {
    await replicas.processOf(hub).kill()
    await sleep(systemClock, 1_000 * random(), never)
    await replicas.startHub(hub)
    return
  }
  const leader = await eventually(async () => {
    const found = await replicas.etcdLeader()
    return replicas.etcd.members[found ?? -1] ?? Promise.reject(new Error('no etcd leads'))
  }, patienceMs)
  await leader.kill()
  await sleep(systemClock, 2_000 * random(), never)
  leader.start()
  await replicas.etcd.listening()
}

/** Whatever was answered before a request was sent is not newer than what it answers. */
function expectNeverBack({ history, lists, written }: ReplicaLoad): void {
  const writes = history.filter(({ call, answer }) => call.verb !== 'get' && answer !== undefined)
  const answered = [
    ...writes.map(({ calledAt, answeredAt, answer }) => ({
      calledAt,
      answeredAt,
      revision: answer?.version ?? 0,
    })),
    ...lists,
  ].toSorted((a, b) => a.answeredAt - b.answeredAt)
  expect(written.size).toBe(writes.length)
  for (const { calledAt, revision } of answered) {
    const before = answered.filter(({ answeredAt }) => answeredAt < calledAt)
    expect(revision).toBeGreaterThanOrEqual(Math.max(0, ...before.map(each => each.revision)))
  }
}
