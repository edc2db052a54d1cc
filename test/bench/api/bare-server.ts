// What Node can do at best: ServiceImports over TLS as an API server would answer them, kept in memory over LevelDB, where
// writes that come together share one synced batch. Nobody is asked who he is or what he may do, nothing is validated,
// there are no versions to go back to. Arguments: FOLDER CERT KEY. Prints its port.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { Level } from 'level'
import { systemClock } from '../../../src/kernel/clock.ts'
import { type Manager, managers } from './bare-managers.ts'

type Stored = {
  readonly object: KubeObject
  readonly bytes: Buffer
  /** The row of a Table around the age, made when it is first listed. */
  row?: readonly [string, string]
}

type KubeObject = {
  readonly metadata: Record<string, unknown> & { name: string; resourceVersion?: string }
  readonly spec?: { type?: string; ips?: readonly string[] }
  readonly status?: unknown
}

type Write = {
  readonly name: string
  readonly namespace: string
  readonly object: KubeObject | undefined
  readonly bytes: Buffer
  resolve(): void
}

const [folder = '', certFile = '', keyFile = ''] = process.argv.slice(2)
const db = new Level<string, Buffer>(folder, { valueEncoding: 'buffer' })
await db.open()

const namespaces = new Map<string, Map<string, Stored>>()
const watchers = new Map<string, Set<ServerResponse>>()
const json = { 'content-type': 'application/json' }
let revision = 0
let queue: Write[] = []
let isCommitting: boolean = false

function objectsIn(namespace: string): Map<string, Stored> {
  const known = namespaces.get(namespace)
  if (known !== undefined) return known
  const made = new Map<string, Stored>()
  namespaces.set(namespace, made)
  return made
}

function watchersOf(namespace: string): Set<ServerResponse> {
  const known = watchers.get(namespace)
  if (known !== undefined) return known
  const made = new Set<ServerResponse>()
  watchers.set(namespace, made)
  return made
}

/** Resolves when the write is on the disk. */
function commit(namespace: string, name: string, object: KubeObject | undefined): Promise<Buffer> {
  if (object !== undefined) object.metadata.resourceVersion = String(++revision)
  const bytes = Buffer.from(object === undefined ? '' : JSON.stringify(object))
  return new Promise(resolve => {
    queue.push({ name, namespace, object, bytes, resolve: () => resolve(bytes) })
    if (!isCommitting) void commitAll()
  })
}

async function commitAll(): Promise<void> {
  isCommitting = true
  while (queue.length > 0) {
    // What has arrived already shares the batch.
    await new Promise(resolve => setImmediate(resolve))
    const writes = queue
    queue = []
    await db.batch(
      writes.map(({ namespace, name, object, bytes }) => {
        const key = `${namespace}/${name}`
        return object === undefined ? { type: 'del', key } : { type: 'put', key, value: bytes }
      }),
      { sync: true },
    )
    publish(writes)
  }
  isCommitting = false
}

function publish(writes: readonly Write[]): void {
  const frames = new Map<string, string>()
  for (const write of writes) {
    const { namespace, bytes } = write
    const frame = `{"type":"${put(write)}","object":${bytes.toString('utf8')}}\n`
    frames.set(namespace, (frames.get(namespace) ?? '') + frame)
    write.resolve()
  }
  for (const [namespace, text] of frames) {
    const piece = Buffer.from(text)
    for (const watcher of watchersOf(namespace)) watcher.write(piece)
  }
}

/** Answers what watchers are told that it was. */
function put({ namespace, name, object, bytes }: Write): string {
  const objects = objectsIn(namespace)
  if (object === undefined) {
    objects.delete(name)
    return 'DELETED'
  }
  const type = objects.has(name) ? 'MODIFIED' : 'ADDED'
  objects.set(name, { object, bytes })
  return type
}

function managed(object: KubeObject, manager: Manager): KubeObject {
  const fields = Array.isArray(object.metadata.managedFields) ? object.metadata.managedFields : []
  const known = fields.some(({ operation, subresource }) => {
    return operation === manager.operation && subresource === manager.subresource
  })
  if (known) return object
  return { ...object, metadata: { ...object.metadata, managedFields: [...fields, manager] } }
}

/** As RFC 7396 has it. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> = { ...Object(target) }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = merged(result[key], value)
  }
  return result
}

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

type Asked = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly namespace: string
  readonly name: string
  readonly query: URLSearchParams
}

function answer(response: ServerResponse, code: number, body: Buffer): void {
  response.writeHead(code, { ...json, 'content-length': body.length })
  response.end(body)
}

function refuse(response: ServerResponse, code: number): void {
  answer(response, code, Buffer.from(`{"kind":"Status","apiVersion":"v1","code":${code}}`))
}

async function create({ request, response, namespace }: Asked): Promise<void> {
  const sent: KubeObject = JSON.parse(await read(request))
  const { name } = sent.metadata
  if (objectsIn(namespace).has(name)) return refuse(response, 409)
  const born = { uid: randomUUID(), generation: 1, creationTimestamp: new Date().toISOString() }
  const object = { ...sent, metadata: { ...sent.metadata, ...born, namespace } }
  answer(response, 201, await commit(namespace, name, managed(object, managers.create)))
}

async function replace({ request, response, namespace, name }: Asked): Promise<void> {
  const sent: KubeObject = JSON.parse(await read(request))
  const there = objectsIn(namespace).get(name)?.object
  if (there === undefined) return refuse(response, 404)
  if (sent.metadata.resourceVersion !== there.metadata.resourceVersion) return refuse(response, 409)
  answer(response, 200, await commit(namespace, name, sent))
}

async function patch({ request, response, namespace, name }: Asked): Promise<void> {
  const { status } = JSON.parse(await read(request))
  const there = objectsIn(namespace).get(name)?.object
  if (there === undefined) return refuse(response, 404)
  const changed = { ...there, metadata: { ...there.metadata }, status: merged(there.status, status) }
  answer(response, 200, await commit(namespace, name, managed(changed, managers.status)))
}

async function removeAll({ response, namespace }: Asked): Promise<void> {
  await Promise.all([...objectsIn(namespace).keys()].map(name => commit(namespace, name, undefined)))
  refuse(response, 200)
}

function get({ response, namespace, name }: Asked): void {
  const there = objectsIn(namespace).get(name)
  if (there === undefined) refuse(response, 404)
  else answer(response, 200, there.bytes)
}

const comma = Buffer.from(',')
const closing = Buffer.from(']}\n')

function list({ request, response, namespace, query }: Asked): void {
  const stored = [...objectsIn(namespace).values()]
  const from = Number(query.get('continue') ?? 0)
  const limit = Number(query.get('limit') ?? 0)
  const items = limit === 0 ? stored : stored.slice(from, from + limit)
  const more = limit > 0 && from + limit < stored.length ? { continue: String(from + limit) } : {}
  const metadata = JSON.stringify({ resourceVersion: String(revision), ...more })
  if (request.headers.accept?.includes('as=Table')) answer(response, 200, table(items, metadata))
  else answer(response, 200, plainList(items, metadata))
}

function plainList(items: readonly Stored[], metadata: string): Buffer {
  const head = Buffer.from(`{"kind":"ServiceImportList","apiVersion":"v1","metadata":${metadata},"items":[`)
  const pieces = items.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [comma, bytes]))
  return Buffer.concat([head, ...pieces, closing])
}

function table(items: readonly Stored[], metadata: string): Buffer {
  const now = systemClock.now()
  const rows = items.map(stored => {
    stored.row ??= rowOf(stored.object)
    const age = Math.floor((now - Date.parse(String(stored.object.metadata.creationTimestamp))) / 1000)
    return `${stored.row[0]}${age}s${stored.row[1]}`
  })
  const head = `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":${metadata},"columnDefinitions":[],"rows":[`
  return Buffer.from(`${head}${rows.join(',')}]}\n`)
}

function rowOf({ metadata, spec }: KubeObject): readonly [string, string] {
  const cells = JSON.stringify([metadata.name, spec?.type, spec?.ips?.join(',')]).slice(0, -1)
  const object = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
  return [`{"cells":${cells},"`, `"],"object":${JSON.stringify(object)}}`]
}

function watch({ response, namespace }: Asked): void {
  response.writeHead(200, json)
  response.flushHeaders()
  const all = watchersOf(namespace)
  all.add(response)
  response.on('close', () => all.delete(response))
}

function handle(asked: Asked): Promise<void> | void {
  const { name, query, request } = asked
  switch (request.method ?? 'GET') {
    case 'POST':
      return create(asked)
    case 'PUT':
      return replace(asked)
    case 'PATCH':
      return patch(asked)
    case 'DELETE':
      return removeAll(asked)
    default:
      if (name !== '') return get(asked)
      return query.has('watch') ? watch(asked) : list(asked)
  }
}

/** `/apis/<group>/<version>/namespaces/<namespace>/serviceimports/<name>` */
function serve(request: IncomingMessage, response: ServerResponse): void {
  const [path = '', query] = (request.url ?? '').split('?')
  const [, , , , , namespace = '', , name = ''] = path.split('/')
  // An aggregator asks for more than objects, to find out whether somebody is there.
  if (namespace === '') {
    refuse(response, path.startsWith('/apis/') ? 200 : 404)
    return
  }
  const asked = { request, response, namespace, name, query: new URLSearchParams(query) }
  Promise.try(handle, asked).catch((thrown: unknown) => {
    process.stderr.write(`bare server: ${String(thrown)}\n`)
    refuse(response, 500)
  })
}

const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, serve)
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`ready ${address !== null && typeof address === 'object' ? address.port : 0}\n`)
})
