// Three hubs on three members of etcd; any of them is killed while clients write and watch.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { never, sleep } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { Etcd, withoutEtcd } from '../support/etcd.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { hub, patienceMs, Served, versionOf } from './served.ts'

const writers = 6
/** Writes that have to be answered before the next thing happens. */
const meanwhile = 60

type WatchLine = {
  readonly type: string
  readonly object: { readonly metadata: { readonly name: string; readonly resourceVersion: string } }
}

/** Reads one watch after the other, each at another server, from where the one before broke off. */
class Follower {
  readonly seen: { readonly name: string; readonly revision: number }[] = []
  readonly complaints: string[] = []
  position: number
  isOver: boolean = false
  #at: number
  readonly #servers: readonly Served[]
  readonly running: Promise<void>

  constructor(servers: readonly Served[], from: number, at: number) {
    this.#servers = servers
    this.position = from
    this.#at = at
    this.running = this.#run()
  }

  async #run(): Promise<void> {
    while (!this.isOver) {
      await this.#watch(this.#servers[this.#at++ % this.#servers.length]).catch(() => undefined)
      await sleep(systemClock, 20, never)
    }
  }

  async #watch(server: Served | undefined): Promise<void> {
    if (server === undefined) return
    const query = `?watch=1&timeoutSeconds=2&resourceVersion=${this.position}`
    const answer = await server.client.open(`${hub.path}${query}`)
    if (answer.status === 503 || answer.status === 429) return
    if (answer.status !== 200) {
      this.complaints.push(`watch: ${answer.status}`)
      return
    }
    for (let line = await answer.line(); line !== undefined; line = await answer.line()) {
      const { type, object } = JSON.parse(line) as WatchLine // as every watch sends them
      const revision = Number(object.metadata.resourceVersion)
      this.seen.push({ name: `${type} ${object.metadata.name}`, revision })
      this.position = revision
    }
  }
}

/** Creates one object after the other, at one server after the other. */
class Writer {
  readonly complaints: string[] = []
  isOver: boolean = false
  readonly running: Promise<void>
  readonly #servers: readonly Served[]
  readonly #answered: Map<string, number>

  constructor(servers: readonly Served[], writer: number, answered: Map<string, number>) {
    this.#servers = servers
    this.#answered = answered
    this.running = this.#run(writer)
  }

  async #run(writer: number): Promise<void> {
    let newest = 0
    for (let count = 0; !this.isOver; count++) {
      const name = `w${writer}-${count}`
      const server = this.#servers[(writer + count) % this.#servers.length]
      const revision = await server?.create(name).then(
        answer => (answer.status === 201 ? versionOf(answer) : undefined),
        () => undefined,
      )
      if (revision !== undefined) {
        if (revision <= newest) this.complaints.push(`${name} is at ${revision} after ${newest}`)
        newest = revision
        this.#answered.set(name, revision)
        await this.#mustSee(this.#servers[(writer + count + 1) % this.#servers.length], name, revision)
      }
      await sleep(systemClock, 5, never)
    }
  }

  /** Another server shows at once what this one has answered. */
  async #mustSee(server: Served | undefined, name: string, revision: number): Promise<void> {
    const answer = await server?.client.send(`${hub.path}/${name}`).catch(() => undefined)
    if (answer === undefined || answer.status === 503 || answer.status === 429) return
    if (answer.status !== 200) this.complaints.push(`${name} is not seen: ${answer.status}`)
    else if (versionOf(answer) !== revision) this.complaints.push(`${name} is at ${versionOf(answer)}`)
  }
}

/** All have seen the same, each revision once and in order, and everything that was answered. */
function expectWhole(followers: readonly Follower[], answered: ReadonlyMap<string, number>): void {
  // What came behind it without an answer, only some may have seen yet.
  const newest = Math.max(...answered.values())
  const seenBy = followers.map(({ seen }) => seen.filter(({ revision }) => revision <= newest))
  for (const seen of seenBy) {
    expect(seen).toEqual(seenBy[0])
    const revisions = seen.map(({ revision }) => revision)
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b))
    const created = new Map(seen.map(({ name, revision }) => [name, revision]))
    for (const [name, revision] of answered) expect(created.get(`ADDED ${name}`)).toBe(revision)
  }
}

async function ended(those: readonly (Follower | Writer)[]): Promise<void> {
  for (const one of those) one.isOver = true
  await Promise.all(those.map(({ running }) => running))
}

describe.skipIf(withoutEtcd !== undefined)(withoutEtcd ?? 'three hubs on one etcd', () => {
  it('lose no answered write and no event, whichever process is killed', async () => {
    const folder = temporaryFolder()
    const etcd = await Etcd.start({ members: 3 })
    const store = `etcd://${etcd.servers.map(({ host }) => host).join(',')}`
    const servers = [0, 1, 2].map(at => new Served(join(folder.path, `home-${at}`), undefined, hub))
    const start = (server: Served): Promise<void> => server.start('--store', store)
    await Promise.all(servers.map(start))
    const lists = await Promise.all(servers.map(({ client }) => client.send(hub.path)))
    const from = Math.max(...lists.map(versionOf))
    const answered = new Map<string, number>()
    const followers = servers.map((_, at) => new Follower(servers, from, at))
    const clients = Array.from({ length: writers }, (_, writer) => new Writer(servers, writer, answered))
    const goesOn = async (): Promise<void> => {
      const wanted = answered.size + meanwhile
      await eventually(() => expect(answered.size).toBeGreaterThan(wanted), patienceMs)
    }
    try {
      await goesOn()
      for (const [at, server] of servers.entries()) {
        await server.kill()
        await goesOn()
        await start(server)
        await goesOn()
        await etcd.members[at]?.kill()
        await goesOn()
        etcd.members[at]?.start()
        await goesOn()
      }
      await ended(clients)
      expect(clients.flatMap(({ complaints }) => complaints)).toEqual([])
      const newest = Math.max(...answered.values())
      await eventually(() => {
        for (const { position } of followers) expect(position).toBeGreaterThanOrEqual(newest)
      }, patienceMs)
      await ended(followers)
      expect(followers.flatMap(({ complaints }) => complaints)).toEqual([])
      expectWhole(followers, answered)
    } finally {
      await ended([...clients, ...followers])
      for (const server of servers) await server.kill()
      await etcd.stop()
      folder.dispose()
    }
  }, 300_000)
})
