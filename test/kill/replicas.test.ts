// Three hubs on three etcds, each of them killed under load. HUB_KILLS=n makes it longer (npm run soak).
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/api/meta.ts'
import { never, sleep } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { eventually } from '../support/eventually.ts'
import { violation } from '../support/linearizability.ts'
import { ReplicaWatcher, type WatchedChange } from '../support/replica-watcher.ts'
import { type Hub, hubs, Replicas } from '../support/replicas.ts'
import { randomOf, seed } from '../support/seed.ts'
import { configMaps, namespace, ReplicaLoad } from './replica-load.ts'

/** Each hub once, and an etcd. */
const kills = Number(process.env.HUB_KILLS ?? 4)
const clients = 6
const patienceMs = 60_000
const timeoutMs = 120_000 + kills * 20_000

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
      for (const target of targets(random)) await kill(replicas, target, random)
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

type Target = Hub | 'etcd'

/** All of them in turn, in another order each time. */
function targets(random: () => number): readonly Target[] {
  const all: readonly Target[] = [...hubs, 'etcd']
  const turns = Array.from({ length: Math.ceil(kills / all.length) }, () =>
    all.map(target => ({ target, at: random() })).toSorted((a, b) => a.at - b.at),
  )
  return turns
    .flat()
    .map(({ target }) => target)
    .slice(0, Math.max(kills, all.length))
}

/** A hub, whichever leads among them, or the etcd that leads; it is back before the next one goes. */
async function kill(replicas: Replicas, target: Target, random: () => number): Promise<void> {
  await sleep(systemClock, 500 + 1_000 * random(), never)
  if (target !== 'etcd') {
    await replicas.processOf(target).kill()
    await sleep(systemClock, 1_000 * random(), never)
    await replicas.startHub(target)
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
  let [newest, at] = [0, 0]
  for (const { calledAt, revision } of answered.toSorted((a, b) => a.calledAt - b.calledAt)) {
    for (; (answered[at]?.answeredAt ?? Number.POSITIVE_INFINITY) < calledAt; at++)
      newest = Math.max(newest, answered[at]?.revision ?? 0)
    expect(revision).toBeGreaterThanOrEqual(newest)
  }
}
