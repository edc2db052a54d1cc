/**
 * What the stages of the API server share. A request runs through
 * `http → negotiation → authn → audit → authz → admission → registry → store`; the order is written in `chain.ts`.
 */
import type { AnyKind } from '../src/api/kind.ts'
import type { KubeObject } from '../src/api/meta.ts'
import type { Status } from '../src/kernel/errors.ts'
import type { ObjectKey, Revision, StoredObject } from './store-contract.ts'

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
      /** As it was sent; only of requests for many objects. */
      readonly labelSelector?: string
      readonly fieldSelector?: string
    }
  | { readonly isResource: false; readonly verb: string; readonly path: string }

export type UserInfo = {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
  /** The server's own authority vouches for this user: nothing that a client, a proxy or an impersonator can say sets this. */
  readonly isComponent?: true
  /**
   * The request comes from the front proxy: kube-apiserver sends on only what it has itself allowed to this user, name and
   * all. Whoever acts as another user is none of its users.
   */
  readonly isSentOn?: true
}

/** The client's side of the connection. */
export type Peer = {
  readonly address: string
  /** DER, leaf first, as the client sent it: not verified by TLS. Empty when none was sent. */
  readonly certificates: readonly Buffer[]
}

/** What stages note for those above them: one object, which all copies of a request share. */
export type RequestNotes = {
  /** Of the header `Audit-ID`, or made up. */
  readonly auditId: string
  /** The request target as it was sent. */
  readonly target: string
  /** What an audit log shall say besides; present when there is one. */
  annotations?: Map<string, string>
  /** The document that was sent, once it has been read. */
  document?: unknown
  /** Aborts the signal of the request. */
  readonly giveUp: (why: unknown) => void
  /** Called when the response is out, or its client gone; present when somebody waits for that. */
  whenSent?: () => void
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
  readonly notes: RequestNotes
  /** Reads the body once, at most 3 MiB. Throws 413. */
  readonly body: () => Promise<Buffer>
  /** Adds a sentence to the response's Warning headers. */
  readonly warn: (text: string) => void
}

// ---- reply ------------------------------------------------------------------------------------------------------

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
  /** The same, made piece by piece while the client reads it. */
  | {
      readonly type: 'slices'
      readonly code: number
      readonly headers: Readonly<Record<string, string>>
      /** Each is good until the next is asked for. */
      readonly slices: Iterable<Buffer>
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
      /** Each character of the body is a byte; other texts are UTF-8. */
      readonly encoding?: 'latin1'
    }
  | {
      readonly type: 'slices'
      readonly code: number
      readonly headers: Readonly<Record<string, string>>
      /** Each is good until the next is asked for. */
      readonly slices: Iterable<Buffer>
      /** Of the whole body, when that can be told before. */
      length?(): number
      /** The same as gzip, for less than it takes to compress the slices, and how long it is without. These stay good. */
      zipped?(): Generator<Buffer, number>
      /** What is answered instead when the beginning cannot be made. */
      failed?(thrown: unknown): Extract<Encoded, { type: 'bytes' }>
    }
  | {
      readonly type: 'frames'
      readonly code: number
      readonly headers: Readonly<Record<string, string>>
      encode(events: readonly WatchEvent[]): Buffer
      open(sink: WatchSink, signal: AbortSignal): void
    }

/** The whole chain. Never throws or rejects: whatever goes wrong is a Status. */
export type Responder = (request: ApiRequest, signal: AbortSignal) => Encoded | Promise<Encoded>

/**
 * Answers a request, or throws a `StatusError`; at once when nothing has to be waited for. The signal aborts when the client
 * is gone or the deadline has passed.
 */
export type Handler = (request: ApiRequest, signal: AbortSignal) => Reply | Promise<Reply>

/** One stage of the chain: feels what comes below it, never what stands above. */
export type Stage = (next: Handler) => Handler

// ---- who and whether --------------------------------------------------------------------------------------------

/**
 * Tells who sends a request. Undefined: this method was not used. A throw (401): a credential was presented and is not
 * good. Then the next one is asked all the same, since a client may present several; when none knows the client, the
 * request is refused and does not pass as anonymous.
 */
export interface Authenticator {
  /** At once when nothing has to be asked for. */
  authenticate(request: ApiRequest, signal: AbortSignal): UserInfo | undefined | Promise<UserInfo | undefined>
  /** Whether a header, by its lower-case name, is a credential: what comes below authn does not see it. */
  isCredential?(header: string): boolean
}

/** What a request asks for, or what may be asked about: `impersonate`, `bind`, `escalate` and any word of a review. */
export type AccessInfo =
  | RequestInfo
  | (Omit<Extract<RequestInfo, { isResource: true }>, 'verb'> & { readonly verb: string })

/** What is to be allowed. */
export type Attributes = {
  readonly user: UserInfo
  readonly info: AccessInfo
  /** This is the request that the user was allowed in front (`UserInfo.isSentOn`), not something else that it needs. */
  readonly isSentOn?: true
}

/** `noOpinion` asks the next authorizer; when all have none the request is refused. */
export type Decision = { readonly allowed: 'allow' | 'deny' | 'noOpinion'; readonly reason: string }

export interface Authorizer {
  /** At once when nothing has to be asked for. */
  authorize(attributes: Attributes, signal: AbortSignal): Decision | Promise<Decision>
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
  validate?(attributes: AdmissionAttributes, signal: AbortSignal): void | Promise<void>
}

/** All plugins in their order, as the registry calls them; at once when there is none for what is asked. */
export interface Admission {
  mutate(
    attributes: AdmissionAttributes,
    signal: AbortSignal,
  ): KubeObject | undefined | Promise<KubeObject | undefined>
  validate(attributes: AdmissionAttributes, signal: AbortSignal): void | Promise<void>
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
  /** Those that may see something, in the order of lists. */
  namespaces(): readonly string[]
  /** Where objects may be stored that are shown under this name. The keys of a resource sort as those names. */
  keysOf(name: string): readonly ObjectKey[]
  visible(namespace: string, object: StoredObject): boolean
  /** The object as the view shows it, with the same revision. Called only for visible objects; cheap. */
  render(namespace: string, object: StoredObject): StoredObject
  /**
   * The revision since which what a namespace may see is as it is now: a watch from an earlier one would not tell what came
   * into sight or went out of it. Empty: of all namespaces.
   */
  since(namespace: string): Revision
  /** Calls back when what a namespace may see has changed as a whole: its watches then end with 410. */
  onChange(listener: (namespace: string) => void): () => void
}
