/** What the main thread and a worker say to each other. */
import type { CompiledService, Report, ZoneChange, ZoneSettings } from './contract.ts'
import type { Endpoint } from './server/bind.ts'

/** Tells our workers from those of others. */
export const workerRole = 'isthmus-dns'

/** `workerData`. */
export type WorkerSettings = {
  readonly role: typeof workerRole
  readonly endpoint: Endpoint
  readonly zone: ZoneSettings
  /** Records that every zone has. */
  readonly fixed: CompiledService
  readonly nsid: string | undefined
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
