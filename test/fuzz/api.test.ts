// Whatever is sent to an API server, it answers: never with 5xx, never with half an answer, never after a long silence.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { kinds } from '../../src/api/kinds/index.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { SpaceKind, WidgetKind } from '../support/kinds.ts'
import { seed } from '../support/seed.ts'
import { Clients, faultOf, isUnsent } from './api/answers.ts'
import { type Case, randomCase, type Served } from './api/cases.ts'
import { byBytes, byWeight, type Fill, type Heavy } from './api/heavy.ts'
import { applies } from './api/heavy-applies.ts'
import { documents } from './api/heavy-documents.ts'
import { merges } from './api/heavy-merges.ts'
import { objects } from './api/heavy-objects.ts'
import { patches } from './api/heavy-patches.ts'
import { queries } from './api/heavy-queries.ts'
import { yamls } from './api/heavy-yaml.ts'
import { startTarget, type Target } from './api/target.ts'
import { generator } from './random.ts'

/** Requests that once broke something. */
const corpus = join(import.meta.dirname, 'corpus', 'api')
const seconds = Number(process.env.FUZZ_SECONDS ?? 3)
/** In ms of CPU of the main thread, on a machine that is no slower than it should be; only `npm run fuzz` looks at it. */
const longestMs = Number(process.env.FUZZ_LONGEST_MS ?? Number.POSITIVE_INFINITY)
const attempts = 3

const served: readonly Served[] = [
  { server: 'hub', kinds: kinds.filter(kind => kind.servers.some(server => server !== 'member')) },
  { server: 'east', kinds: kinds.filter(kind => kind.servers.some(server => server !== 'hub')) },
  { server: 'own kinds', kinds: [WidgetKind, SpaceKind] },
]

const heavies: readonly Heavy[] = [
  ...documents,
  ...objects,
  ...yamls,
  ...patches,
  ...merges,
  ...applies,
  ...queries,
]

let target: Target
let clients: Clients

beforeAll(async () => {
  mkdirSync(corpus, { recursive: true })
  target = await startTarget()
  clients = new Clients(target.servers)
}, 60_000)

afterAll(async () => {
  await clients.close()
  await target.stop()
})

/** What is wrong, on a fresh connection when the old one has just ended; nothing when the request could not be sent. */
async function answered(sent: Case): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const fault = await faultOf(clients, sent).catch((thrown: unknown) => thrown)
    if (!(fault instanceof Error)) return fault === undefined ? undefined : String(fault)
    await clients.reset()
    if (isUnsent(fault)) return undefined
    if (attempt === 2) return `the connection ended: ${fault.message}`
  }
}

/** Throws when the answer, or the want of one, is not what it must be. */
async function check(sent: Case): Promise<void> {
  const fault = await answered(sent)
  if (target.crash() !== undefined) throw new Error(target.crash())
  if (fault !== undefined) throw new Error(fault)
  const load = await target.load()
  if (load.longestMs <= longestMs) return
  const slowness = await target.slowness()
  if (load.longestMs <= longestMs * slowness) return
  throw new TooLong(
    `computed ${Math.round(load.longestMs)} ms without a pause, on a machine ${slowness.toFixed(1)} times slower than it should be`,
  )
}

class TooLong extends Error {}

/** The server collects its garbage when it likes: what takes long each time takes long. */
async function checkOften(prepareOne: () => Promise<Case>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const sent = await prepareOne()
    const fault = await check(sent).then(
      () => undefined,
      (cause: unknown) => ({ cause }),
    )
    if (fault === undefined) return
    if (fault.cause instanceof TooLong && attempt < attempts) continue
    throw new Error(`kept as test/fuzz/corpus/api/${keep(sent)}`, fault)
  }
}

function keep(sent: Case): string {
  const text = `${JSON.stringify(sent, undefined, 2)}\n`
  const name = `${createHash('sha256').update(text).digest('hex').slice(0, 16)}.json`
  writeFileSync(join(corpus, name), text)
  return name
}

function kept(): readonly (readonly [string, Case])[] {
  mkdirSync(corpus, { recursive: true })
  return readdirSync(corpus)
    .filter(name => name.endsWith('.json'))
    .map(name => [name, JSON.parse(readFileSync(join(corpus, name), 'utf8'))] as const)
}

describe('damaged requests', () => {
  it('are answered: those that once were not', async () => {
    for (const [name, sent] of kept()) {
      await checkOften(async () => {
        await prepare(sent)
        return sent
      }).catch(cause => Promise.reject(new Error(name, { cause })))
    }
  }, 60_000)

  it(`are answered: ${seconds} s of new ones (FUZZ_SECONDS, SEED=${seed})`, {
    timeout: 1000 * seconds + 60_000,
  }, async () => {
    const next = generator(seed)
    const until = systemClock.now() + 1000 * seconds
    let sent = 0
    while (systemClock.now() < until) {
      const one = randomCase(served, next)
      await checkOften(async () => one)
      sent++
    }
    expect(sent).toBeGreaterThan(0)
  })
})

// A machine that does other things makes every limit of time a matter of luck, so it is no part of `npm test`.
if (longestMs < Number.POSITIVE_INFINITY) {
  describe(`within ${longestMs} ms of computing without a pause`, () => {
    it.each(heavies.map(heavy => [heavy.name, heavy] as const))(
      '%s',
      async (_, heavy) => {
        await target.load()
        for (const fill of [byBytes, byWeight]) await checkOften(() => prepared(heavy, fill))
      },
      60_000,
    )
  })
}

/** What has to be there is there, and what is to be made is not. */
async function prepared(heavy: Heavy, fill: Fill): Promise<Case> {
  const { method, path, type, before = [] } = heavy
  const [item = ''] = path.split('?', 1)
  const sent: Case = {
    server: /\/(spaces|widgets)/.test(path) ? 'own kinds' : 'east',
    protocol: 'HTTP/1.1',
    method,
    path,
    headers: type === undefined ? {} : { 'content-type': type },
    body: Buffer.from(heavy.body(fill)).toString('base64'),
    gone: method === 'POST' ? `${item}/heavy` : item,
    before,
  }
  await prepare(sent)
  return sent
}

async function prepare(sent: Case): Promise<void> {
  const client = clients.of(sent)
  if (sent.gone !== undefined) await client.send(sent.gone, { method: 'DELETE' })
  for (const { path, call } of sent.before ?? []) {
    const { status, text } = await client.send(path, call)
    if (status >= 400) throw new Error(`${call.method} ${path}: ${status} ${text.slice(0, 200)}`)
  }
  await target.load()
}
