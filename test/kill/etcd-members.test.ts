// Three servers' stores on three members of etcd that are killed and stopped one after the other.
import { describe, expect, it } from 'vitest'
import { openEtcdStore } from '../../apiservice/store/etcd/open.ts'
import type { Revision, Store } from '../../apiservice/store-contract.ts'
import { never, sleep } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { inScope, shownEvent } from '../conformance/store/harness.ts'
import { CheckedStore } from '../support/checked-store.ts'
import { Etcd, withoutEtcd } from '../support/etcd.ts'
import { eventually } from '../support/eventually.ts'
import { violation } from '../support/linearizability.ts'
import { type Choice, History } from '../support/recorded-clients.ts'
import { randomOf, seed } from '../support/seed.ts'
import { Wire } from '../support/wire.ts'

const clients = 9
const patienceMs = 60_000
const rounds = Number(process.env.MEMBERS ?? 1)
/** Operations that have to be answered before the next thing happens. */
const meanwhile = 150

function openStore(wires: readonly Wire[], at: number): Promise<Store> {
  // Each begins with another member.
  const servers = [...wires.slice(at), ...wires.slice(0, at)].map(({ url }) => url)
  return openEtcdStore({
    clock: systemClock,
    log: silentLogger,
    metrics: noMetrics,
    etcd: { servers, prefix: '/shared', tls: () => ({}), place: 'etcd' },
  })
}

const verbs = ['get', 'get', 'create', 'update', 'update', 'delete'] as const

/** Choices until it is told to end. Keys change, so that few operations have to be explained at once. */
function* choices(client: number, isOver: () => boolean): Generator<Choice> {
  const random = randomOf(seed + client)
  for (let count = 0; !isOver(); count++) {
    const key = `k${Math.floor(count / 20)}-${Math.floor(random() * 3)}`
    yield { key, verb: verbs[Math.floor(random() * verbs.length)] ?? 'get' }
  }
}

/** Watches one store after the other, each from where it was with the one before. */
class Wanderer {
  readonly events: string[] = []
  position: Revision
  ended: string | undefined
  #at: number
  readonly #stores: readonly Store[]
  #stop: () => void = () => undefined

  constructor(stores: readonly Store[], from: Revision, at: number) {
    this.#stores = stores
    this.position = from
    this.#at = at
    this.goOn()
  }

  goOn(): void {
    this.#stop()
    const store = this.#stores[this.#at++ % this.#stores.length]
    this.#stop =
      store?.watch(inScope(), this.position, {
        events: (batch, through) => {
          this.events.push(...batch.map(shownEvent))
          this.position = Math.max(this.position, through)
        },
        end: reason => {
          this.ended = reason
        },
      }) ?? this.#stop
  }

  stop(): void {
    this.#stop()
  }
}

/** Stores with clients at work, and watches that stay and watches that wander. */
class Scene {
  readonly stores: readonly CheckedStore[]
  readonly history: History
  readonly #steady: readonly Wanderer[]
  readonly #wandering: readonly Wanderer[]
  readonly #running: Promise<unknown>
  #isOver: boolean = false

  constructor(stores: readonly CheckedStore[]) {
    this.stores = stores
    this.history = new History(...stores)
    const from = Math.max(...stores.map(store => store.oldest()))
    this.#steady = stores.map((_, at) => new Wanderer(stores, from, at))
    this.#wandering = stores.map((_, at) => new Wanderer(stores, from, at))
    const rest = (): Promise<void> => sleep(systemClock, 4, never)
    this.#running = Promise.all(
      Array.from({ length: clients }, (_, client) =>
        this.history.client(
          client,
          choices(client, () => this.#isOver),
          rest,
        ),
      ),
    )
  }

  get #answered(): number {
    return this.history.operations.filter(({ answer }) => answer !== undefined).length
  }

  /** Resolves when much more was answered. */
  async goesOn(): Promise<void> {
    const wanted = this.#answered + meanwhile
    await eventually(() => expect(this.#answered).toBeGreaterThan(wanted), patienceMs)
    for (const one of this.#wandering) one.goOn()
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  /** All servers show the same, all watches have seen the same, and one register for each key explains it. */
  async expectSound(): Promise<void> {
    const lists = await Promise.all(this.stores.map(store => store.list(inScope(), { limit: 0 })))
    for (const list of lists) expect(list).toEqual(lists[0])
    const newest = lists[0]?.revision ?? 0
    const all = [...this.#steady, ...this.#wandering]
    await eventually(() => {
      for (const { position } of all) expect(position).toBeGreaterThanOrEqual(newest)
    }, patienceMs)
    for (const { events, ended } of all) expect([ended, events]).toEqual([undefined, all[0]?.events])
    expect(violation(this.history.operations)).toBeUndefined()
    for (const one of all) one.stop()
    for (const store of this.stores) await store.verify()
  }
}

describe.skipIf(withoutEtcd !== undefined)(withoutEtcd ?? 'stores of three servers on one etcd', () => {
  it(
    `are one register for each key while members are killed, stopped and cut off (seed ${seed})`,
    async () => {
      const etcd = await Etcd.start({ members: 3 })
      const wires = await Promise.all(etcd.servers.map(url => Wire.to(url)))
      const stores = await Promise.all(
        [0, 1, 2].map(async at => new CheckedStore(await openStore(wires, at))),
      )
      const scene = new Scene(stores)
      try {
        await scene.goesOn()
        const everyone = Array.from({ length: rounds }, () => etcd.members).flat()
        for (const [at, member] of everyone.entries()) {
          await member.kill()
          await scene.goesOn()
          member.start()
          await scene.goesOn()
          member.signal('SIGSTOP')
          await scene.goesOn()
          member.signal('SIGCONT')
          await scene.goesOn()
          await loseAnswers(wires, at % etcd.members.length)
          await scene.goesOn()
        }
        await scene.end()
        expect(scene.history.operations.filter(({ answer }) => answer === undefined)).not.toEqual([])
        await scene.expectSound()
      } finally {
        await scene.end()
        for (const store of stores) await store.close()
        for (const wire of wires) wire.close()
        await etcd.stop()
      }
    },
    120_000 + 180_000 * rounds,
  )
})

/** So that writes are made of which nobody hears. */
async function loseAnswers(wires: readonly Wire[], at: number): Promise<void> {
  for (const wire of wires) wire.deafen()
  await sleep(systemClock, 100, never)
  for (const wire of wires) wire.cut()
  await sleep(systemClock, 20 * at, never)
  for (const wire of wires) wire.mend()
}
