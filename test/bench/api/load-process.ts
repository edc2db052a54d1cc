// The load, in a process of its own: takes jobs from its parent, one at a time.
import { sleep } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { type Answer, type Call, Connection, countLines, requestBytes } from './connection.ts'
import type { Done, Job, JobResult, Timed } from './job.ts'
import { replacement, resource, seedName, serviceImport, statusPatch } from './objects.ts'

type Of<T extends Job['type']> = Extract<Job, { readonly type: T }>
/** Does one unit of the load; `n` is another for each. */
type Unit = (connection: Connection, n: number) => Promise<void>

const pageSize = 500
const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io'
/** Writes that watchers have not seen yet, for each of them: a watcher that is far behind would be cut off. */
const maxBehind = 32
/** What was written has reached all watchers by then, also on a machine that others use. */
const watchEndMs = 120_000
const bigRead = 0.05

function required(answer: Answer, code: number, what: string): Answer {
  if (answer.code === code) return answer
  throw new Error(`${what} answered ${answer.code}: ${answer.body.toString('utf8', 0, 500)}`)
}

async function ask(connection: Connection, call: Call, code: number, keeps = false): Promise<Answer> {
  return required(await connection.ask(requestBytes(call), keeps), code, `${call.method} ${call.path}`)
}

function collectionPath({ server, namespace }: Pick<Of<'seed'>, 'server' | 'namespace'>): string {
  return `${server.prefix}/namespaces/${namespace}/${resource}`
}

/** So many handshakes and watches are begun at once: servers bound what one client may begin. */
const atOnce = 50

/** Some after the other. */
async function inWaves<T, U>(
  items: readonly T[],
  begin: (item: T, index: number) => Promise<U>,
): Promise<U[]> {
  const begun: U[] = []
  for (let first = 0; first < items.length; first += atOnce) {
    const wave = items.slice(first, first + atOnce)
    begun.push(...(await Promise.all(wave.map((item, index) => begin(item, first + index)))))
  }
  return begun
}

function openAll(server: Job['server'], count: number): Promise<Connection[]> {
  return inWaves(
    Array.from({ length: count }, () => server),
    each => Connection.open(each),
  )
}

/**
 * Each connection does one unit after the other until the time is over; those under way are waited for. What is prepared
 * before takes none of the time.
 */
async function timed(
  job: Timed,
  unit: Unit,
  prepare?: (connection: Connection) => Promise<void>,
): Promise<Done> {
  const connections = await openAll(job.server, job.clients)
  try {
    if (prepare !== undefined) await Promise.all(connections.map(prepare))
    let done = 0
    const started = performance.now()
    const until = started + job.durationMs
    const client = async (connection: Connection): Promise<void> => {
      while (performance.now() < until) await unit(connection, done++)
    }
    await Promise.all(connections.map(client))
    return { done, seconds: (performance.now() - started) / 1000, codes: [] }
  } finally {
    for (const connection of connections) connection.close()
  }
}

async function askAll({ server, calls }: Of<'ask'>): Promise<Done> {
  const connection = await Connection.open(server)
  try {
    const codes: number[] = []
    for (const call of calls) codes.push((await connection.ask(requestBytes(call), false)).code)
    return { done: calls.length, seconds: 0, codes }
  } finally {
    connection.close()
  }
}

async function seed(job: Of<'seed'>): Promise<Done> {
  const connections = await openAll(job.server, 32)
  const path = collectionPath(job)
  let next = 0
  const client = async (connection: Connection): Promise<void> => {
    while (next < job.count) {
      const body = serviceImport(job.server.apiVersion, seedName(next++))
      await ask(connection, { method: 'POST', path, body }, 201)
    }
  }
  await Promise.all(connections.map(client))
  for (const connection of connections) connection.close()
  return { done: job.count, seconds: 0, codes: [] }
}

function creates(job: Of<'create'>): Promise<Done> {
  const path = collectionPath(job)
  return timed(job, async (connection, n) => {
    const body = serviceImport(job.server.apiVersion, `${job.prefix}-${n}`)
    await ask(connection, { method: 'POST', path, body }, 201)
  })
}

type OnObjects = Of<'get' | 'pair' | 'patch'>

function onObjects(job: OnObjects): Promise<Done> {
  const path = collectionPath(job)
  // Units that are under way at once must not meet on one object.
  const pathOf = (n: number): string => `${path}/${seedName(n % job.count)}`
  switch (job.type) {
    case 'get':
      return timed(job, async (connection, n) => {
        const answer = await ask(connection, { method: 'GET', path: pathOf(n) }, 200, true)
        if (!answer.body.includes(`"name":"${seedName(n % job.count)}"`)) throw new Error('another object')
      })
    case 'pair':
      return timed(job, async (connection, n) => {
        const { body } = await ask(connection, { method: 'GET', path: pathOf(n) }, 200, true)
        const changed = replacement(body, systemClock.now() + n)
        await ask(connection, { method: 'PUT', path: pathOf(n), body: changed }, 200)
      })
    case 'patch':
      return timed(job, (connection, n) => patchStatus(connection, pathOf(n), n))
  }
}

async function patchStatus(connection: Connection, path: string, n: number): Promise<void> {
  const body = statusPatch(systemClock.now() + n)
  const type = 'application/merge-patch+json'
  await ask(connection, { method: 'PATCH', path: `${path}/status`, body, type }, 200)
}

type OfMany = Of<'list' | 'paged' | 'table'>

/** One answer for each connection is read before, those that count have to be as long. */
function lists(job: OfMany): Promise<Done> {
  const path = collectionPath(job)
  const accept = job.type === 'table' ? tableType : 'application/json'
  const read = job.type === 'paged' ? walk : once
  const lengths = new Map<Connection, number>()
  const prepare = async (connection: Connection): Promise<void> => {
    const { bytes, items } = await read({ connection, path, accept, counts: true })
    if (items !== job.count) throw new Error(`${items} of ${job.count} are listed`)
    lengths.set(connection, bytes)
  }
  const unit = async (connection: Connection): Promise<void> => {
    const { bytes } = await read({ connection, path, accept, counts: false })
    const length = lengths.get(connection) ?? 0
    if (Math.abs(bytes / length - 1) > bigRead)
      throw new Error(`a list of ${bytes} bytes after one of ${length}`)
  }
  return timed(job, unit, prepare)
}

type Read = {
  readonly connection: Connection
  readonly path: string
  readonly accept: string
  readonly counts: boolean
}

type Listed = { readonly bytes: number; readonly items: number }

async function once({ connection, path, accept, counts }: Read): Promise<Listed> {
  const { bytes, body } = await ask(connection, { method: 'GET', path, accept }, 200, counts)
  return { bytes, items: counts ? itemsOf(body) : 0 }
}

async function walk({ connection, path, accept, counts }: Read): Promise<Listed> {
  const sum = { bytes: 0, items: 0 }
  for (let token: string | undefined = ''; token !== undefined; ) {
    const query: string = token === '' ? '' : `&continue=${encodeURIComponent(token)}`
    const call = { method: 'GET', path: `${path}?limit=${pageSize}${query}`, accept }
    const { body, bytes } = await ask(connection, call, 200, true)
    sum.bytes += bytes
    if (counts) sum.items += itemsOf(body)
    token = continueOf(body)
  }
  return sum
}

function itemsOf(body: Buffer): number {
  const { items, rows } = JSON.parse(body.toString('utf8'))
  return (items ?? rows).length
}

/** The metadata of a list stands before its items or behind them. */
function continueOf(body: Buffer): string | undefined {
  const ends = [body.toString('utf8', 0, 1000), body.toString('utf8', Math.max(0, body.length - 1000))]
  return ends.map(text => /"continue":"([^"]+)"/.exec(text)?.[1]).find(token => token !== undefined)
}

/** Every write reaches every watcher once: the time ends with the last event. */
async function watches(job: Of<'watch'>): Promise<Done> {
  const watchers = await openAll(job.server, job.watchers)
  const seen = watchers.map(() => 0)
  let events = 0
  try {
    const path = collectionPath(job)
    const since = await newestVersion(job.server, path)
    const request = requestBytes({ method: 'GET', path: `${path}?watch=1&resourceVersion=${since}` })
    const codes = await inWaves(watchers, (watcher, index) =>
      watcher.stream(request.toString(), piece => {
        const count = countLines(piece)
        seen[index] = (seen[index] ?? 0) + count
        events += count
      }),
    )
    if (codes.some(code => code !== 200))
      throw new Error(`watches answered ${[...new Set(codes)].join(', ')}`)
    let started = 0
    const isBehind = (writes: number): boolean => writes * job.watchers - events >= maxBehind * job.watchers
    const wait = waiterOf(watchers)
    const begin = async (): Promise<void> => {
      started = performance.now()
    }
    const writes = await write(job, written => wait(() => !isBehind(written())), begin)
    await wait(() => events >= writes * job.watchers)
    const seconds = (performance.now() - started) / 1000
    const wrong = seen.filter(count => count !== writes).length
    if (wrong > 0) throw new Error(`${wrong} watchers saw another number than ${writes} events`)
    return { done: events, seconds, codes: [] }
  } finally {
    for (const watcher of watchers) watcher.close()
  }
}

type Wait = (isDone: () => boolean) => Promise<void>

/** Fails when it takes too long, and when a server has cut off a watcher, which would never see what is waited for. */
function waiterOf(watchers: readonly Connection[]): Wait {
  const signal = AbortSignal.timeout(watchEndMs)
  let closed = 0
  for (const watcher of watchers) watcher.onClose(() => closed++)
  return async isDone => {
    while (!isDone()) {
      if (closed > 0) throw new Error(`${closed} watchers were cut off`)
      await sleep(systemClock, 1, signal)
    }
  }
}

async function write(
  job: Of<'watch'>,
  ready: (written: () => number) => Promise<void>,
  begin: () => Promise<void>,
): Promise<number> {
  const path = collectionPath(job)
  let writes = 0
  const unit = async (connection: Connection, n: number): Promise<void> => {
    await ready(() => writes)
    writes++
    await patchStatus(connection, `${path}/${seedName(n % job.count)}`, n)
  }
  await timed(job, unit, begin)
  return writes
}

async function newestVersion(server: Job['server'], path: string): Promise<string> {
  const connection = await Connection.open(server)
  try {
    const { body } = await ask(connection, { method: 'GET', path: `${path}?limit=1` }, 200, true)
    return JSON.parse(body.toString('utf8')).metadata.resourceVersion
  } finally {
    connection.close()
  }
}

function run(job: Job): Promise<Done> {
  switch (job.type) {
    case 'ask':
      return askAll(job)
    case 'seed':
      return seed(job)
    case 'create':
      return creates(job)
    case 'get':
    case 'pair':
    case 'patch':
      return onObjects(job)
    case 'list':
    case 'paged':
    case 'table':
      return lists(job)
    case 'watch':
      return watches(job)
  }
}

function tell(result: JobResult): void {
  process.send?.(result)
}

process.on('message', (job: Job) => {
  run(job).then(tell, (thrown: unknown) => tell({ fault: String(thrown) }))
})
