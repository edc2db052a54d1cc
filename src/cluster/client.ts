/** The `Cluster` seam over HTTPS, against any API server. Why not with @kubernetes/client-node: hack/adr/0004. */
import type { IncomingMessage } from 'node:http'
import type { KubeObject } from '../api/meta.ts'
import { errorText } from '../kernel/abort.ts'
import { badAnswer, isReason, StatusError, unavailable } from '../kernel/errors.ts'
import { fromStatus } from '../kernel/status-answer.ts'
import { bytesOf, lines, parsedOr, readText } from './body.ts'
import type {
  Cluster,
  ClusterEvent,
  DeleteOptions,
  DiscoveredResource,
  Listed,
  Ref,
  Resource,
  Selection,
  WriteOptions,
} from './cluster.ts'
import { discoverResources } from './discovery.ts'
import { isJsonObject } from './json.ts'
import { resourcePath, withQuery } from './path.ts'
import { type HttpRequest, Transport, type TransportOptions } from './transport.ts'

export type ClientOptions = TransportOptions & {
  /** For logs. */
  readonly name: string
  /** After so long without a byte a watch is taken for dead; servers send bookmarks every minute. */
  readonly watchIdleMs?: number
  /** In [0, 1): spreads the ends of watches. */
  readonly random?: () => number
}

const json = 'application/json'
const pageLimit = 500
const maxAnswerBytes = 256 * 1024 * 1024
const maxLineBytes = 16 * 1024 * 1024
const defaultWatchIdleMs = 130_000

export class ClusterClient implements Cluster {
  readonly name: string
  readonly #transport: Transport
  readonly #options: ClientOptions

  constructor(options: ClientOptions) {
    this.name = options.name
    this.#options = options
    this.#transport = new Transport(options)
  }

  /** Ends all connections, open watches included. */
  close(): void {
    this.#transport.close()
  }

  async get<O>(resource: Resource<O>, ref: Ref, signal: AbortSignal): Promise<O> {
    return this.#object(resource, { method: 'GET', path: resourcePath(resource, ref), accept: json }, signal)
  }

  async list<O>(resource: Resource<O>, selection: Selection, signal: AbortSignal): Promise<Listed<O>> {
    try {
      return await this.#pages(resource, selection, { limit: pageLimit, signal })
    } catch (thrown) {
      if (!isReason(thrown, 'Expired')) throw thrown
      // The first page's revision went while the later ones were read: once more, in one piece.
      return this.#pages(resource, selection, { limit: 0, signal })
    }
  }

  async *watch<O>(
    resource: Resource<O>,
    selection: Selection & { readonly resourceVersion: string },
    signal: AbortSignal,
  ): AsyncIterable<ClusterEvent<O>> {
    const path = withQuery(resourcePath(resource, selection), {
      ...selectors(selection),
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: selection.resourceVersion,
      timeoutSeconds: String(300 + Math.floor((this.#options.random ?? Math.random)() * 300)),
    })
    const limits = {
      maxBytes: maxLineBytes,
      idleMs: this.#options.watchIdleMs ?? defaultWatchIdleMs,
      clock: this.#options.clock,
    }
    try {
      const answer = await this.#answered({ method: 'GET', path, accept: json, streams: true }, signal)
      for await (const line of lines(answer, limits)) yield eventOf(resource, line)
    } catch (thrown) {
      throw this.#failure(thrown, signal)
    }
  }

  async create<O>(resource: Resource<O>, object: O, signal: AbortSignal): Promise<O> {
    const { namespace } = metadataOf(object)
    const path = resourcePath(resource, { namespace })
    return this.#object(resource, { method: 'POST', path, accept: json, ...bodyOf(object) }, signal)
  }

  async replace<O>(resource: Resource<O>, object: O, options: WriteOptions, signal: AbortSignal): Promise<O> {
    const path = resourcePath(resource, metadataOf(object), options.subresource)
    return this.#object(resource, { method: 'PUT', path, accept: json, ...bodyOf(object) }, signal)
  }

  async mergePatch<O>(
    resource: Resource<O>,
    ref: Ref,
    patch: unknown,
    options: WriteOptions & { readonly signal: AbortSignal },
  ): Promise<O> {
    const path = resourcePath(resource, ref, options.subresource)
    const body = { body: JSON.stringify(patch), contentType: 'application/merge-patch+json' }
    return this.#object(resource, { method: 'PATCH', path, accept: json, ...body }, options.signal)
  }

  async delete(
    resource: Resource<unknown>,
    ref: Ref,
    options: DeleteOptions & { readonly signal: AbortSignal },
  ): Promise<void> {
    const { uid, resourceVersion, propagationPolicy, signal } = options
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    }
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
      ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    }
    const path = resourcePath(resource, ref)
    await this.#json({ method: 'DELETE', path, accept: json, ...bodyOf(body) }, signal)
  }

  async deleteCollection(
    resource: Resource<unknown>,
    selection: Selection,
    signal: AbortSignal,
  ): Promise<void> {
    const path = withQuery(resourcePath(resource, selection), selectors(selection))
    await this.#json({ method: 'DELETE', path, accept: json }, signal)
  }

  discover(signal: AbortSignal): Promise<readonly DiscoveredResource[]> {
    return discoverResources((path, accept) => this.#json({ method: 'GET', path, accept }, signal))
  }

  /** What the server answers on a path that is no resource, piece by piece. */
  async *read(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
    try {
      yield* bytesOf(await this.#answered({ method: 'GET', path, accept: '*/*', streams: true }, signal))
    } catch (thrown) {
      throw this.#failure(thrown, signal)
    }
  }

  async #pages<O>(
    resource: Resource<O>,
    selection: Selection,
    { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
  ): Promise<Listed<O>> {
    const items: O[] = []
    const query = { ...selectors(selection), ...(limit === 0 ? {} : { limit: String(limit) }) }
    let next: Readonly<Record<string, string>> = {}
    for (;;) {
      const path = withQuery(resourcePath(resource, selection), { ...query, ...next })
      const page = listOf(await this.#json({ method: 'GET', path, accept: json }, signal))
      for (const item of page.items ?? []) items.push(typedAs(resource, item))
      const { resourceVersion, continue: token } = page.metadata
      if (token === undefined || token === '') return { items, resourceVersion }
      next = { continue: token }
    }
  }

  async #object<O>(resource: Resource<O>, request: HttpRequest, signal: AbortSignal): Promise<O> {
    return typedAs(resource, await this.#json(request, signal))
  }

  async #json(request: HttpRequest, signal: AbortSignal): Promise<unknown> {
    try {
      const answer = await this.#answered(request, signal)
      const text = await readText(answer, maxAnswerBytes)
      const parsed = parsedOr(text)
      if (typeof parsed === 'string') throw badAnswer(`the answer is no JSON: ${parsed.slice(0, 100)}`)
      return parsed
    } catch (thrown) {
      throw this.#failure(thrown, signal)
    }
  }

  /** An answer whose status is good. */
  async #answered(request: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const answer = await this.#transport.send(request, signal)
    const code = answer.statusCode ?? 0
    if (code >= 200 && code < 300) return answer
    throw fromStatus(code, parsedOr(await readText(answer, maxLineBytes)))
  }

  #failure(thrown: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason
    if (thrown instanceof StatusError) return thrown
    return unavailable(`the connection to ${this.name} broke: ${errorText(thrown)}`, 1, thrown)
  }
}

type ListDocument = {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items?: readonly unknown[]
}

function listOf(value: unknown): ListDocument {
  if (!isList(value)) throw badAnswer('the answer to a list is no list')
  return value
}

function isList(value: unknown): value is ListDocument {
  return (
    isJsonObject(value) &&
    isJsonObject(value.metadata) &&
    typeof value.metadata.resourceVersion === 'string' &&
    (value.items === undefined || value.items === null || Array.isArray(value.items))
  )
}

/** Items of lists of built-in kinds come without apiVersion and kind. */
function typedAs<O>(resource: Resource<O>, value: unknown): O {
  if (!isJsonObject(value) || !isJsonObject(value.metadata)) {
    throw badAnswer(`the answer is no object of ${resource.plural}`)
  }
  const typed =
    value.kind === undefined ? { apiVersion: resource.apiVersion, kind: resource.kind, ...value } : value
  // The server serves this resource by its schema; what the schema does not say nobody may rely on.
  return typed as O
}

function eventOf<O>(resource: Resource<O>, line: string): ClusterEvent<O> {
  const event = parsedOr(line)
  if (!isJsonObject(event)) throw badAnswer(`a watch of ${resource.plural} sent a line that is no event`)
  const { type, object } = event
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
    return { type, object: typedAs(resource, object) }
  }
  if (type === 'ERROR') throw fromStatus(500, object)
  const position =
    isJsonObject(object) && isJsonObject(object.metadata) ? object.metadata.resourceVersion : ''
  if (type !== 'BOOKMARK' || typeof position !== 'string') {
    throw badAnswer(`a watch of ${resource.plural} sent an event of unknown type`)
  }
  return { type, resourceVersion: position }
}

function metadataOf(object: unknown): Ref {
  // Objects of the API have metadata; that is what the seam's callers hand in.
  return (object as KubeObject).metadata
}

function bodyOf(object: unknown): { body: string; contentType: string } {
  return { body: JSON.stringify(object), contentType: json }
}

function selectors({ labelSelector, fieldSelector }: Selection): Readonly<Record<string, string>> {
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  }
}
