// Over real sockets: a client that has hundreds of requests under way, and others that ask for one thing after the other.
import { afterEach, expect, it } from 'vitest'
import type { Authorizer } from '../../../../apiservice/contract.ts'
import type { ApiClient } from '../../../support/api-client.ts'
import { type TestServer, testServer } from '../../../support/api-server.ts'

const everybody: Authorizer = { authorize: async () => ({ allowed: 'allow', reason: '' }) }
const seats = 8
const inFlight = 120
const modestRequests = 6

let server: TestServer
afterEach(() => server.close())

const things = '/api/v1/namespaces/default/configmaps'
const create = (name: string, kind = 'ConfigMap') => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ apiVersion: 'v1', kind, metadata: { name } }),
})

async function clientOf(user: string): Promise<ApiClient> {
  return server.client('HTTP/2', await server.issue({ user, groups: [] }))
}

/** Sends as much as it can until it is told to stop; answers how often it got which code. */
function greedy(client: ApiClient, send: () => Promise<{ readonly status: number }>) {
  const codes = new Map<number, number>()
  let isOver = false
  const one = async (): Promise<void> => {
    while (!isOver) {
      const { status } = await send()
      codes.set(status, (codes.get(status) ?? 0) + 1)
    }
  }
  const all = Promise.all(Array.from({ length: inFlight }, one))
  return {
    codes,
    stop: async () => {
      isOver = true
      await all
      await client.close()
    },
  }
}

it.each([
  ['gets', (client: ApiClient) => client.send(`${things}/known`), 200],
  ['lists', (client: ApiClient) => client.send(things), 200],
  ['creates', (client: ApiClient) => client.send(things, create(`x-${Math.random()}`)), 201],
])(
  'one that sends nothing but %s waits for itself: others are served, none is refused',
  async (_, send, good) => {
    server = await testServer({ authorizers: [everybody], limits: { readOnly: seats, mutating: seats } })
    await server.client().send('/api/v1/namespaces', create('default', 'Namespace'))
    await server.client().send(things, create('known'))
    const many = await clientOf('greedy')
    const load = greedy(many, () => send(many))
    const modest = await Promise.all(['ada', 'bob'].map(clientOf))
    for (const client of modest) {
      for (let i = 0; i < modestRequests; i++) {
        expect((await client.send(`${things}/known`)).status).toBe(200)
        expect((await client.send(things, create(`${i}-${Math.random()}`))).status).toBe(201)
      }
    }
    await load.stop()
    const served = load.codes.get(good) ?? 0
    expect(load.codes.get(429)).toBeGreaterThan(0)
    expect(new Set(load.codes.keys())).toEqual(new Set([good, 429]))
    expect(served).toBeGreaterThan(0)
    // It has two seats, and the way there and back of one modest request takes some turns of the event loop.
    expect(served / (modest.length * modestRequests * 2)).toBeLessThan(inFlight / 2)
  },
  60_000,
)
