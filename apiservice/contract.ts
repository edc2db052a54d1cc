/**
 * What the stages of the API server share. A request runs through
 * `http → negotiation → authn → authz → admission → registry → store`; the order is written in `chain.ts`.
 */
import type { AnyKind } from '../src/api/kind.ts'
import type { KubeObject } from '../src/api/meta.ts'
import type { Status } from '../src/kernel/errors.ts'

// ---- request ----------------------------------------------------------------------------------------------------

export type ResourceVerb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'

/** What a method and a path ask for (k8s.io/apiserver `RequestInfo`). Empty strings mean absent. */
export type RequestInfo =
  | {
      readonly isResource: true
      /** Empty for a method that no verb answers to. */
      readonly verb: ResourceVerb | ''
      readonly path: string
      readonly group: string
      readonly version: string
      readonly namespace: string
      readonly resource: string
      readonly subresource: string
      readonly name: string
    }
  | { readonly isResource: false; readonly verb: string; readonly path: string }

export type UserInfo = {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** The client's side of the connection. */
export type Peer = {
  readonly address: string
  /** DER, leaf first, as the client sent it: not verified by TLS. Empty when none was sent. */
  readonly certificates: readonly Buffer[]
}

export type ApiRequest = {
  /** Upper case. */
  readonly method: string
  /** Percent-decoded once, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly info: RequestInfo
  /** Every value of a header by its lower-case name, one entry per header line. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly peer: Peer
  /** Anonymous until authn has run. */
  readonly user: UserInfo
  /** Reads the body once, at most 3 MiB. Throws 413. */
  body(): Promise<Buffer>
  /** Adds a sentence to the response's Warning headers. */
  warn(text: string): void
}

// ---- reply ------------------------------------------------------------------------------------------------------

/** Position in the one sequence of all writes of a server. A `resourceVersion` is this number in decimal. */
export type Revision = number

/**
 * One version of one object. `body` is its JSON with two holes: see `src/codec/object-bytes.ts`. The same instance is
 * handed to every get, list and watch of that version.
 */
export type StoredObject = {
  /** 0 when it was never written (dry run, reviews): then no resourceVersion is sent. */
  readonly revision: Revision
  /** `<plural>.<group>`, the plural alone in the core group. */
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly body: Buffer
}

/** A kind as it is served at one of its versions. */
export type ServedKind = { readonly kind: AnyKind; readonly version: string }

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: StoredObject }
  /** Everything up to `revision` has been sent. */
  | { readonly type: 'BOOKMARK'; readonly revision: Revision; readonly initialEventsEnd: boolean }
  /** The last event of a stream. */
  | { readonly type: 'ERROR'; readonly status: Status }

/** Receives a watch. Calls never wait: a sink that falls behind ends its own stream. */
export interface WatchSink {
  events(batch: readonly WatchEvent[]): void
  /** No more events will come: the server or the request's deadline ended the watch. */
  end(): void
}

/** Whether rows of a Table carry the object (`includeObject`), told by the client. */
export type Reply =
  | {
      readonly type: 'object'
      readonly code: number
      readonly served: ServedKind
      readonly object: StoredObject
    }
  | {
      readonly type: 'list'
      readonly served: ServedKind
      readonly items: readonly StoredObject[]
      readonly revision: Revision
      readonly continue?: string
      readonly remainingItemCount?: number
    }
  /** `open` starts the stream; the signal of the request ends it. */
  | { readonly type: 'watch'; readonly served: ServedKind; open(sink: WatchSink, signal: AbortSignal): void }
  | { readonly type: 'status'; readonly code: number; readonly status: Status }
  /** Bytes that are not negotiated any further: discovery, OpenAPI, health, metrics. */
  | {
      readonly type: 'raw'
      readonly code: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Buffer | string
    }

/**
 * A reply after negotiation: what the http stage writes. It adds the headers that every response carries.
 * - bytes: the whole body.
 * - slices: a long body, made piece by piece while the client reads it.
 * - frames: a watch. `encode` is given every event once, in their order, some at a time, when the connection takes more.
 */
export type Encoded =
  | {
      readonly type: 'bytes'
      readonly code: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Buffer | string
    }
  | {
      readonly type: 'slices'
      readonly code: number
      readonly headers: Readonly<Record<string, string>>
      readonly slices: Iterable<Buffer>
    }
  | {
      readonly type: 'frames'
      readonly code: number
      readonly headers: Readonly<Record<string, string>>
      encode(events: readonly WatchEvent[]): Buffer
      open(sink: WatchSink, signal: AbortSignal): void
    }

/** The whole chain. Never rejects: whatever goes wrong is a Status. */
export type Responder = (request: ApiRequest, signal: AbortSignal) => Promise<Encoded>

/** Answers a request, or throws a `StatusError`. The signal aborts when the client is gone or the deadline has passed. */
export type Handler = (request: ApiRequest, signal: AbortSignal) => Promise<Reply>

/** One stage of the chain: feels what comes below it, never what stands above. */
export type Stage = (next: Handler) => Handler

// ---- who and whether --------------------------------------------------------------------------------------------

/**
 * Tells who sends a request. Undefined: this method was not used. A throw (401): a credential was presented and is not
 * good. Then the next one is asked all the same, since a client may present several; when none knows the client, the
 * request is refused and does not pass as anonymous.
 */
export interface Authenticator {
  authenticate(request: ApiRequest, signal: AbortSignal): Promise<UserInfo | undefined>
}

/** What a request asks for, or what may be asked about: `impersonate`, `bind`, `escalate` and any word of a review. */
export type AccessInfo =
  | RequestInfo
  | (Omit<Extract<RequestInfo, { isResource: true }>, 'verb'> & { readonly verb: string })

/** What is to be allowed. */
export type Attributes = { readonly user: UserInfo; readonly info: AccessInfo }

/** `noOpinion` asks the next authorizer; when all have none the request is refused. */
export type Decision = { readonly allowed: 'allow' | 'deny' | 'noOpinion'; readonly reason: string }

export interface Authorizer {
  authorize(attributes: Attributes, signal: AbortSignal): Promise<Decision>
  /** Calls back when earlier decisions may no longer hold, so that open watches are asked again. */
  onChange?(listener: () => void): () => void
}

/** Throws the 403 that kube-apiserver would answer unless the access is allowed. */
export type RequireAccess = (attributes: Attributes, signal: AbortSignal) => Promise<void>

// ---- admission --------------------------------------------------------------------------------------------------

export type AdmissionAttributes = {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly served: ServedKind
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly user: UserInfo
  readonly dryRun: boolean
  /** The object to be stored; absent on DELETE. */
  readonly object: KubeObject | undefined
  /** The object as it is stored; absent on CREATE. */
  readonly oldObject: KubeObject | undefined
  warn(text: string): void
}

/** Throws a `StatusError` to refuse. `mutate` answers the object to go on with and runs before any `validate`. */
export interface AdmissionPlugin {
  readonly name: string
  handles(attributes: AdmissionAttributes): boolean
  mutate?(attributes: AdmissionAttributes, signal: AbortSignal): Promise<KubeObject | undefined>
  validate?(attributes: AdmissionAttributes, signal: AbortSignal): Promise<void>
}

/** All plugins in their order, as the registry calls them. */
export interface Admission {
  mutate(attributes: AdmissionAttributes, signal: AbortSignal): Promise<KubeObject | undefined>
  validate(attributes: AdmissionAttributes, signal: AbortSignal): Promise<void>
}

// ---- kinds that are not stored ----------------------------------------------------------------------------------

/** Answers a create of a kind whose storage is `review`. */
export type Review = (
  request: { readonly object: KubeObject; readonly user: UserInfo; readonly dryRun: boolean },
  signal: AbortSignal,
) => Promise<KubeObject>

/** Computes a kind whose storage is `view`, for each namespace, from stored objects at one revision. */
export interface View {
  readonly resources: readonly string[]
  /** Where objects may be stored that are shown under this name. */
  keysOf(name: string): readonly ObjectKey[]
  visible(namespace: string, object: StoredObject): boolean
  /** The object as the view shows it, with the same revision. Called only for visible objects; cheap. */
  render(namespace: string, object: StoredObject): StoredObject
  /** Calls back when what a namespace may see has changed as a whole: its watches then end with 410. */
  onChange(listener: (namespace: string) => void): () => void
}

// ---- store ------------------------------------------------------------------------------------------------------

/** Where an object is kept; `namespace` is empty on cluster scope. */
export type ObjectKey = { readonly resource: string; readonly namespace: string; readonly name: string }

/** Several resources at one revision; `namespace` empty for all of them. Keys sort bytewise by namespace, then name. */
export type Scope = { readonly resources: readonly string[]; readonly namespace: string }

export type StoreEvent = {
  readonly type: 'PUT' | 'DELETE'
  /** After PUT the new version; after DELETE the last state at the revision of the deletion. */
  readonly object: StoredObject
  /** The version before; absent on creation. */
  readonly previous: StoredObject | undefined
}

export interface StoreListener {
  /**
   * Events in order of revision, none missing, none twice. All up to `through` have now been delivered. An empty batch
   * only tells that: once when the listener has caught up with the newest write, later every few seconds while others
   * are written.
   */
  events(batch: readonly StoreEvent[], through: Revision): void
  /** The last call: the history no longer reaches to where the listener is, or the store closes. */
  end(reason: 'expired' | 'closed'): void
}

export type ListOptions = {
  /** Exactly this revision; absent for the newest. Throws 410 when it is no longer kept, 504 when it lies ahead. */
  readonly revision?: Revision
  /** Start behind this object, in key order. */
  readonly after?: ObjectKey
  /** At most so many; 0 for all. */
  readonly limit: number
}

export type ListResult = {
  readonly revision: Revision
  /** In the order of the scope's resources, then by namespace and name. */
  readonly items: readonly StoredObject[]
  /** How many are left behind the last one. */
  readonly remaining: number
}

/** Has all objects of a scope, again whenever the history was lost, and then every change of them. */
export interface Follower {
  reset(items: readonly StoredObject[]): void
  events(batch: readonly StoreEvent[]): void
}

/** Keeps a follower current until the signal aborts; resolves when it has been given all objects for the first time. */
export type Follow = (scope: Scope, follower: Follower, signal: AbortSignal) => Promise<void>

/** What a write found. A refused write has changed nothing. */
export type WriteResult =
  | { readonly done: true; readonly object: StoredObject }
  /** The key holds another version than expected: `current`, or nothing. */
  | { readonly done: false; readonly current: StoredObject | undefined }

/**
 * The store. One revision sequence for all resources, strictly increasing and never reused, also after a crash. A
 * write is durable when its promise resolves and is then seen by every later read and by every listener in order.
 * After a throw of a write (`ServiceUnavailable`) it is unknown whether it happened.
 */
export interface Store {
  /** The revision of the newest durable write. */
  revision(): Revision
  /** The oldest revision that lists and watches may start from. */
  oldest(): Revision
  get(key: ObjectKey): Promise<StoredObject | undefined>
  list(scope: Scope, options: ListOptions): Promise<ListResult>
  /** Delivers all changes after `after`; calls come in later turns of the event loop until the result is called. */
  watch(scope: Scope, after: Revision, listener: StoreListener): () => void
  create(key: ObjectKey, body: Buffer): Promise<WriteResult>
  /** Replaces exactly the version `expected`. */
  update(key: ObjectKey, expected: Revision, body: Buffer): Promise<WriteResult>
  /** Deletes exactly the version `expected`. The result carries the revision of the deletion; `body` is its last state. */
  delete(key: ObjectKey, expected: Revision, body?: Buffer): Promise<WriteResult>
  /** Forgets history before `revision`. */
  compact(revision: Revision): Promise<void>
  /** Waits for writes under way, ends all watches. */
  close(): Promise<void>
}
