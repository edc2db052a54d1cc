/** The methods of `etcd.proto`, and the shapes of their messages. What is absent in a question is zero. */
import { join } from 'node:path'
import { loadSync } from '@grpc/proto-loader'
import type { Method } from './grpc.ts'

type Header = { readonly revision: number }

type KeyValueMessage = { readonly key: Buffer; readonly modRevision: number; readonly value: Buffer }

type RangeRequest = {
  readonly key: Buffer
  readonly rangeEnd?: Buffer | undefined
  readonly limit?: number | undefined
  readonly revision?: number | undefined
  readonly countOnly?: boolean | undefined
}

type RangeResponse = {
  readonly header: Header
  readonly kvs: readonly KeyValueMessage[]
  readonly more: boolean
  readonly count: number
}

type RequestOp =
  | { readonly requestRange: RangeRequest }
  | { readonly requestPut: { readonly key: Buffer; readonly value: Buffer; readonly lease?: number } }
  | { readonly requestDeleteRange: { readonly key: Buffer } }

type Compare = {
  readonly result: number
  readonly target: number
  readonly key: Buffer
  readonly rangeEnd?: Buffer | undefined
  /** One of the two, as the target says. */
  readonly modRevision?: number
  readonly value?: Buffer
}

type TxnRequest = {
  readonly compare: readonly Compare[]
  readonly success: readonly RequestOp[]
  readonly failure: readonly RequestOp[]
}

type TxnResponse = {
  readonly header: Header
  readonly succeeded: boolean
  readonly responses: readonly { readonly responseRange?: RangeResponse }[]
}

type WatchRequest =
  | {
      readonly createRequest: {
        readonly key: Buffer
        readonly rangeEnd?: Buffer | undefined
        readonly startRevision: number
        readonly progressNotify: boolean
        readonly fragment: boolean
      }
    }
  | { readonly progressRequest: Record<string, never> }

type WatchResponse = {
  readonly header: Header
  readonly created: boolean
  readonly canceled: boolean
  readonly compactRevision: number
  readonly cancelReason: string
  readonly fragment: boolean
  readonly events: readonly { readonly type: number; readonly kv: KeyValueMessage }[]
}

/** Numbers of our own, since those of etcd are larger than a number can be here. */
type Lease = { readonly ID: number }

type LeaseTime = { readonly TTL: number }

type StatusResponse = {
  readonly version: string
  readonly dbSize: number
  readonly errors: readonly string[]
}

/** The values of `Compare.CompareResult` and `Compare.CompareTarget` that are used. */
export const compare = { equal: 0, modRevision: 2, value: 3 } as const
/** `Event.EventType`. */
export const eventType = { delete: 1 } as const

const definitions = loadSync(join(import.meta.dirname, 'etcd.proto'), { longs: Number, defaults: true })

/** What is declared above is what `etcd.proto` says; no type can tell. */
function isMethod<Question, Answer>(found: unknown): found is Method<Question, Answer> {
  return found instanceof Object && 'path' in found
}

/** Named as in `KV.Range`. */
function method<Question, Answer>(path: string): Method<Question, Answer> {
  const [service = '', name = ''] = path.split('.')
  const found = new Map(Object.entries(definitions[`etcdserverpb.${service}`] ?? {})).get(name)
  if (isMethod<Question, Answer>(found)) return found
  throw new Error(`etcd.proto has no ${path}`)
}

export const methods = {
  range: method<RangeRequest, RangeResponse>('KV.Range'),
  txn: method<TxnRequest, TxnResponse>('KV.Txn'),
  compact: method<Header, object>('KV.Compact'),
  watch: method<WatchRequest, WatchResponse>('Watch.Watch'),
  grantLease: method<Lease & LeaseTime, object>('Lease.LeaseGrant'),
  revokeLease: method<Lease, object>('Lease.LeaseRevoke'),
  keepLease: method<Lease, LeaseTime>('Lease.LeaseKeepAlive'),
  leaseTime: method<Lease, LeaseTime>('Lease.LeaseTimeToLive'),
  status: method<Record<string, never>, StatusResponse>('Maintenance.Status'),
} as const

export type Question<M> = M extends Method<infer Q, unknown> ? Q : never
export type Answer<M> = M extends Method<never, infer A> ? A : never
