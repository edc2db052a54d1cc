/** What the main thread and a worker say to each other. */
import type { CompiledService, LoggedAnswers, Report, ZoneChange, ZoneSettings } from './contract.ts'
import type { Endpoint } from './server/endpoint.ts'
import type { QueryLogLevel } from './server/query-log.ts'

/** Tells our workers from those of others. */
export const workerRole = 'isthmus-dns'

/** How large answers in datagrams may be. */
export type UdpLimits = {
  /** Blocks of addresses; undefined for all addresses. */
  readonly nearNetworks: readonly string[] | undefined
  /** For who is outside of them. */
  readonly farOctets: number
}

/** Whether datagrams are taken and sent several at a time: where the platform can, or never. */
export type UdpBatch = 'auto' | 'off'

/** `workerData`. */
export type WorkerSettings = {
  readonly role: typeof workerRole
  readonly endpoint: Endpoint
  readonly zone: ZoneSettings
  /** Records that the zones have whatever is imported. */
  readonly fixed: readonly CompiledService[]
  readonly nsid: string | undefined
  readonly limits: UdpLimits
  readonly udpBatch: UdpBatch
  readonly queryLog: QueryLogLevel
}

export type ToWorker =
  | { readonly kind: 'change'; readonly change: ZoneChange }
  /** Everything that was known at start is in. */
  | { readonly kind: 'loaded' }
  | { readonly kind: 'report' }
  | { readonly kind: 'close' }

export type FromWorker =
  | { readonly kind: 'listening'; readonly port: number }
  /** It cannot listen; the sentence says why. The worker ends. */
  | { readonly kind: 'refused'; readonly message: string }
  /** A change is in; `names` own records now. */
  | { readonly kind: 'applied'; readonly names: number }
  | { readonly kind: 'report'; readonly report: Report }
  | ({ readonly kind: 'answers' } & LoggedAnswers)
