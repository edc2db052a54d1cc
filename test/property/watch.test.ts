// Whoever lists, page by page, and then watches has what whoever lists later sees: whatever is written meanwhile.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleOf } from '../../src/api/derive/sample.ts'
import { type AnyKind, apiVersionOf } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds/index.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { type ApiClient, type Protocol, protocols } from '../support/api-client.ts'
import { type TestServer, testServer } from '../support/api-server.ts'
import { WidgetKind } from '../support/kinds.ts'

const served = kinds.filter(kind => kind.servers.some(server => server !== 'hub'))
/** Kinds whose objects may have any name, and are gone when they are deleted. */
const watched = [...served, WidgetKind].filter(
  kind =>
    kind.storage === 'stored' &&
    ['configmaps', 'serviceexports', 'leases', 'widgets', 'endpointslices'].includes(kind.plural),
)

let server: TestServer
const clients = new Map<Protocol, ApiClient>()

beforeAll(async () => {
  server = await testServer({ kinds: [...served, WidgetKind], admission: [] })
  for (const protocol of protocols) clients.set(protocol, server.client(protocol))
})

afterAll(() => server.close())

const names = ['a', 'b', 'c', 'd', 'e'] as const
type Write = { readonly name: string; readonly act: 'red' | 'blue' | 'none' | 'delete' }

const writes = fc.array(
  fc.record<Write>({
    name: fc.constantFrom(...names),
    act: fc.constantFrom('red', 'blue', 'none', 'delete'),
  }),
  { maxLength: 12 },
)

const selections = ['', 'color=red', 'color!=red', 'color in (red,blue)', '!color'] as const

/** Everything that a run needs to know of a kind. */
class Collection {
  readonly #client: ApiClient
  readonly #kind: AnyKind
  readonly #path: string

  constructor(client: ApiClient, kind: AnyKind) {
    this.#client = client
    this.#kind = kind
    const root = `${kind.group === '' ? '/api' : '/apis'}/${apiVersionOf(kind)}`
    this.#path = `${root}/${kind.scope === 'Namespaced' ? 'namespaces/default/' : ''}${kind.plural}`
  }

  async write({ name, act }: Write): Promise<void> {
    if (act === 'delete') {
      await this.#client.send(`${this.#path}/${name}`, { method: 'DELETE' })
      return
    }
    const labels = { color: act === 'none' ? null : act }
    const patched = await this.#send('PATCH', `/${name}`, 'application/merge-patch+json', {
      metadata: { labels },
    })
    if (patched === 200) return
    const metadata = { name, ...(act === 'none' ? {} : { labels }) }
    expect(await this.#send('POST', '', 'application/json', { ...sampleOf(this.#kind), metadata })).toBe(201)
  }

  async #send(method: string, rest: string, type: string, body: unknown): Promise<number> {
    const headers = { 'content-type': type }
    return (await this.#client.send(this.#path + rest, { method, headers, body: JSON.stringify(body) }))
      .status
  }

  /** All pages of one list; `between` is done after each. */
  async list(selector: string, limit: number, between: () => Promise<void>): Promise<Listed> {
    const items: KubeObject[] = []
    let token = ''
    for (;;) {
      const query = new URLSearchParams({ labelSelector: selector, limit: String(limit), continue: token })
      const { status, json } = await this.#client.send(`${this.#path}?${query}`)
      expect(status).toBe(200)
      // What a list is.
      const page = json as {
        readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
        readonly items: readonly KubeObject[]
      }
      items.push(...page.items)
      token = page.metadata.continue ?? ''
      if (token === '') return { items, version: page.metadata.resourceVersion }
      await between()
    }
  }

  /** What comes from a version on, up to the object of this name. */
  async *events(selector: string, version: string, last: string): AsyncGenerator<WatchEvent> {
    const query = new URLSearchParams({ labelSelector: selector, watch: '1', resourceVersion: version })
    const stream = await this.#client.open(`${this.#path}?${query}`)
    try {
      for (let line = await stream.line(); line !== undefined; line = await stream.line()) {
        const event = JSON.parse(line) as WatchEvent
        yield event
        if (event.object.metadata.name === last) return
      }
    } finally {
      stream.cancel()
    }
  }
}

type Listed = { readonly items: readonly KubeObject[]; readonly version: string }
type WatchEvent = { readonly type: string; readonly object: KubeObject }

/** Changes come in the order in which they make sense, each later than the one before. */
function replay(state: Map<string, KubeObject>, { type, object }: WatchEvent, after: number): number {
  const { name, resourceVersion } = object.metadata
  expect(Number(resourceVersion)).toBeGreaterThan(after)
  expect(state.has(name)).toBe(type !== 'ADDED')
  if (type === 'DELETED') state.delete(name)
  else state.set(name, object)
  return Number(resourceVersion)
}

type Run = {
  readonly before: readonly Write[]
  readonly between: readonly Write[]
  readonly later: readonly Write[]
  readonly selector: (typeof selections)[number]
  readonly limit: number
}

const runs: fc.Arbitrary<Run> = fc.record({
  before: writes,
  between: writes,
  later: writes,
  selector: fc.constantFrom(...selections),
  limit: fc.integer({ min: 1, max: 4 }),
})

/** A list while others write, and what is told from there on until everything was told. */
async function followed(collection: Collection, run: Run): Promise<readonly KubeObject[]> {
  const { selector } = run
  const pending = [...run.between]
  const { items, version } = await collection.list(selector, run.limit, async () => {
    const write = pending.shift()
    if (write !== undefined) await collection.write(write)
  })
  for (const write of [...pending, ...run.later]) await collection.write(write)
  const isRed = selector === '' || selector === 'color=red' || selector === 'color in (red,blue)'
  await collection.write({ name: 'last', act: isRed ? 'red' : 'none' })
  const state = new Map(items.map(item => [item.metadata.name, item]))
  let latest = Number(version)
  for await (const event of collection.events(selector, version, 'last')) {
    latest = replay(state, event, latest)
  }
  return [...state.values()]
}

describe.each(watched.map(kind => [kind.plural, kind] as const))('a list and a watch of %s', (_, kind) => {
  it.each(protocols)('come to what a later list says, over %s', async protocol => {
    const client = clients.get(protocol)
    if (client === undefined) throw new Error('no client')
    const collection = new Collection(client, kind)
    await fc.assert(
      fc.asyncProperty(runs, async run => {
        await collection.write({ name: 'last', act: 'delete' })
        for (const write of run.before) await collection.write(write)
        const seen = await followed(collection, run)
        const listed = await collection.list(run.selector, 500, async () => undefined)
        expect(seen.toSorted(byName)).toEqual(listed.items.toSorted(byName))
      }),
      { numRuns: 12 },
    )
  })
})

function byName(a: KubeObject, b: KubeObject): number {
  return a.metadata.name < b.metadata.name ? -1 : 1
}
