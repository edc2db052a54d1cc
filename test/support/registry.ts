import { makeAdmission } from '../../apiservice/admission/stage.ts'
import type {
  AdmissionPlugin,
  Handler,
  Reply,
  RequireAccess,
  Review,
  UserInfo,
  View,
  WatchEvent,
} from '../../apiservice/contract.ts'
import { toRequestInfo } from '../../apiservice/http/route.ts'
import { makeRegistry } from '../../apiservice/registry/registry.ts'
import { openMemoryStore } from '../../apiservice/store/memory-store.ts'
import type { StoreOptions } from '../../apiservice/store/options.ts'
import type { Store, StoredObject } from '../../apiservice/store-contract.ts'
import type { AnyKind } from '../../src/api/kind.ts'
import { apiVersionOf } from '../../src/api/kind.ts'
import { decodeBody } from '../../src/codec/object-bytes.ts'
import { StatusError } from '../../src/kernel/errors.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { anApiRequest } from './api-request.ts'
import { type ManualClock, manualClock, settled } from './manual-clock.ts'

/** What a client would get: the code and the document. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Answer = { readonly code: number; readonly body: any; readonly warnings: readonly string[] }

export type SendOptions = {
  readonly body?: unknown
  readonly type?: string
  readonly user?: UserInfo
  readonly headers?: Readonly<Record<string, string>>
}

/** A registry on a memory store, asked as over HTTP but without it. */
export type RegistryUnderTest = {
  readonly store: Store
  readonly clock: ManualClock
  readonly handle: Handler
  send(method: string, path: string, options?: SendOptions): Promise<Answer>
  watch(path: string): Promise<WatchUnderTest>
}

export type WatchUnderTest = {
  readonly frames: readonly Frame[]
  /** `ADDED a`, `BOOKMARK 7`: what came, in order. */
  readonly seen: readonly string[]
  readonly isEnded: boolean
  /** Lets everything that was written so far arrive. */
  settle(): Promise<void>
  abort(): void
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every shape
export type Frame = { readonly type: string; readonly object: any }

export type RegistryOptions = {
  readonly kinds: readonly AnyKind[]
  readonly plugins?: readonly AdmissionPlugin[]
  readonly reviews?: ReadonlyMap<string, Review>
  readonly views?: ReadonlyMap<string, View>
  readonly authorize?: RequireAccess
  readonly storeOptions?: Partial<StoreOptions>
  /** Stands between the registry and the store. */
  readonly wrap?: (store: Store) => Store
}

const admin: UserInfo = { name: 'admin', groups: ['system:masters'], extra: {} }

export async function aRegistry(options: RegistryOptions): Promise<RegistryUnderTest> {
  const clock = manualClock()
  const base = { clock, log: silentLogger, metrics: noMetrics }
  const memory = await openMemoryStore({ ...base, ...options.storeOptions })
  const store = options.wrap?.(memory) ?? memory
  const handle = makeRegistry({
    ...base,
    kinds: options.kinds,
    store,
    admission: makeAdmission(options.plugins ?? []),
    reviews: options.reviews ?? new Map(),
    views: options.views ?? new Map(),
    ...(options.authorize === undefined ? {} : { authorize: options.authorize }),
  })
  const ask = async (
    method: string,
    target: string,
    sent: SendOptions,
    warnings: string[],
  ): Promise<Reply> => {
    const [path = '', query = ''] = target.split('?', 2)
    const parameters = new URLSearchParams(query)
    const request = anApiRequest({
      method,
      path,
      query: parameters,
      info: toRequestInfo(method, path, parameters),
      headers: {
        'content-type': sent.type ?? 'application/json',
        'user-agent': 'tester/1.0',
        ...sent.headers,
      },
      body: textOf(sent.body),
      user: sent.user ?? admin,
      warnings,
    })
    return handle(request, new AbortController().signal)
  }
  return {
    store,
    clock,
    handle,
    async send(method, path, sent = {}) {
      const warnings: string[] = []
      try {
        return { ...toAnswer(await ask(method, path, sent, warnings)), warnings }
      } catch (thrown) {
        if (!(thrown instanceof StatusError)) throw thrown
        return { code: thrown.code, body: thrown.toStatus(), warnings }
      }
    },
    watch: async path => openWatch(await ask('GET', path, {}, [])),
  }
}

function textOf(body: unknown): string {
  if (body === undefined) return ''
  return typeof body === 'string' ? body : JSON.stringify(body)
}

function toAnswer(reply: Reply): Omit<Answer, 'warnings'> {
  switch (reply.type) {
    case 'object':
      return { code: reply.code, body: shown(reply.served, reply.object) }
    case 'list':
      return {
        code: 200,
        body: {
          apiVersion: apiVersionOf(reply.served.kind, reply.served.version),
          kind: `${reply.served.kind.kind}List`,
          metadata: {
            resourceVersion: String(reply.revision),
            ...(reply.continue === undefined ? {} : { continue: reply.continue }),
            ...(reply.remainingItemCount === undefined
              ? {}
              : { remainingItemCount: reply.remainingItemCount }),
          },
          items: reply.items.map(item => shown(reply.served, item)),
        },
      }
    case 'status':
      return { code: reply.code, body: reply.status }
    case 'raw':
    case 'slices':
    case 'watch':
      throw new Error(`a ${reply.type} is no answer`)
  }
}

type Served = { readonly kind: AnyKind; readonly version: string }

function shown({ kind, version }: Served, object: StoredObject): unknown {
  return decodeBody(apiVersionOf(kind, version), kind.kind, object)
}

async function openWatch(reply: Reply): Promise<WatchUnderTest> {
  if (reply.type !== 'watch') throw new Error(`expected a watch, got ${reply.type}`)
  const frames: Frame[] = []
  const abort = new AbortController()
  let isEnded = false
  const sink = {
    events: (batch: readonly WatchEvent[]) => {
      frames.push(...batch.map(event => toFrame(reply.served, event)))
    },
    end: () => {
      isEnded = true
    },
  }
  reply.open(sink, abort.signal)
  await settled()
  return {
    frames,
    get seen() {
      return frames.map(summary)
    },
    get isEnded() {
      return isEnded
    },
    settle: settled,
    abort: () => abort.abort(),
  }
}

function toFrame(served: Served, event: WatchEvent): Frame {
  if (event.type === 'BOOKMARK') return { type: event.type, object: event }
  if (event.type === 'ERROR') return { type: event.type, object: event.status }
  return { type: event.type, object: shown(served, event.object) }
}

function summary({ type, object }: Frame): string {
  if (type === 'BOOKMARK') return `BOOKMARK ${object.revision}${object.initialEventsEnd ? ' end' : ''}`
  return type === 'ERROR' ? `ERROR ${object.code}` : `${type} ${object.metadata.name}`
}
