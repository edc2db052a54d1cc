/**
 * What the stages of the responder share: numbers of the protocol, data that flows between them, and seams.
 *
 *   main thread:    source (imports + slices → ServiceFacts) → zone/compile (→ CompiledService) → message to the workers
 *   worker thread:  server (socket) → wire (parse) → answer (decide, write) → wire (header, OPT) → server
 *
 * Names inside a zone are strings of one character an octet: length-prefixed labels, folded to lower case, without the
 * zone itself and without the root, so that `web.prod.svc` is `\x03web\x04prod\x03svc` and the apex is the empty string.
 */

/** RR types and query types (IANA DNS parameters). */
export const rrType = {
  a: 1,
  ns: 2,
  soa: 6,
  ptr: 12,
  txt: 16,
  sig: 24,
  aaaa: 28,
  srv: 33,
  opt: 41,
  tsig: 250,
  ixfr: 251,
  axfr: 252,
  any: 255,
} as const

export const classIn = 1

/** Response codes; those above 15 need an OPT record to carry their upper bits (RFC 6891 §6.1.3). */
export const rcode = {
  noError: 0,
  formErr: 1,
  servFail: 2,
  nxDomain: 3,
  notImp: 4,
  refused: 5,
  notAuth: 9,
  badVers: 16,
} as const

/** Extended DNS error codes (RFC 8914 §4); `none` is ours. */
export const extendedError = { none: -1, notReady: 14, notAuthoritative: 20 } as const

/** Octets before the question of every message. */
export const headerOctets = 12

/** No answer in a datagram is larger, whatever its client says (DNS flag day 2020); a client may always be sent the least. */
export const maxUdpOctets = 1232
export const minUdpOctets = 512

export type Transport = 'udp' | 'tcp'

/** Who sent a message, and what fits into what is sent back: for datagrams one object, filled again for each. */
export type Origin = {
  readonly transport: Transport
  address: string
  port: number
  /** The most octets of an answer; for datagrams whatever the client says. */
  octets: number
}

/** A port as a record needs it. `port` is 0 where the source gives no number, `name` is empty where it gives none. */
export type PortFacts = { readonly name: string; readonly protocol: string; readonly port: number }

/** One endpoint that is ready, or would be in a slice that does not stand by. */
export type EndpointFacts = { readonly addresses: readonly string[]; readonly hostname: string }

/** One EndpointSlice of one source cluster; `cluster` is the label's text, empty when it is missing. */
export type SliceFacts = {
  readonly cluster: string
  /** The service's own name does not answer with its endpoints: those of nearer clusters serve. */
  readonly standby?: boolean
  readonly ports: readonly PortFacts[]
  readonly endpoints: readonly EndpointFacts[]
}

/** All that the records of one ServiceImport are made of. Plain data: it goes to disk as JSON. */
export type ServiceFacts = {
  readonly namespace: string
  readonly name: string
  readonly type: 'ClusterSetIP' | 'Headless'
  readonly ips: readonly string[]
  /** Of the import; records of headless services take those of the slices. */
  readonly ports: readonly PortFacts[]
  /** `C.S.N` is to have records: those of the endpoints of cluster C. */
  readonly perCluster: boolean
  /** Ordered by name, so that the same slices always give the same facts; empty where nothing is made of them. */
  readonly slices: readonly SliceFacts[]
}

/** `namespace/name` of a ServiceImport. */
export type ServiceKey = string

/** Where services come from: an API server, or what was kept of it. */
export interface ServiceSource {
  /** Resolves when everything is known; rejects when the source ends before. */
  readonly synced: Promise<void>
  keys(): Iterable<ServiceKey>
  /** The service as it is now, undefined when there is none. */
  facts(key: ServiceKey): ServiceFacts | undefined
  /** Called after a service, or one of its slices, has changed. */
  onChange(listener: (key: ServiceKey) => void): void
}

/** Why a part of a service has no record. */
export type ProblemReason =
  | 'service-name'
  | 'cluster-id'
  | 'address'
  | 'hostname'
  | 'name-too-long'
  | 'port-name'
  | 'port-number'

export type Problem = { readonly reason: ProblemReason; readonly subject: string }

/**
 * The records of one service, ready to be copied into answers. Structured clone carries it to the workers.
 * `sets` holds four numbers a record set: index in `names`, type, first octet in `bytes`, octet after the last. Sets of
 * one name are adjacent, in the order A, AAAA, SRV, TXT, PTR, NS. Each record in `bytes` begins with the owner 0xC00C, a
 * pointer to the question's name.
 */
export type CompiledService = {
  /** 0 for the zone of the services, from 1 on for the reverse zones. */
  readonly zone: number
  readonly key: ServiceKey
  readonly names: readonly string[]
  readonly sets: Uint32Array
  readonly bytes: Uint8Array
  /** Names that exist whether or not anything is at or below them. */
  readonly pins: readonly string[]
}

/** What a zone is called and says of itself. */
export type ZoneSettings = {
  /** Dotted, without the final dot: `clusterset.local`. */
  readonly origin: string
  readonly ttlSeconds: number
  /** How long a negative answer may be kept (RFC 2308): the SOA minimum. */
  readonly negativeTtlSeconds: number
  /** Addresses of `ns.dns.<origin>`. */
  readonly nameServerAddresses: readonly string[]
  /** How many endpoints of a headless service its own name answers with, at most. */
  readonly maxEndpoints: number
  /** Names of the zones in which ClusterSetIPs have PTR records: `112.10.in-addr.arpa`. */
  readonly reverseZones: readonly string[]
}

/** A change of the zone as it goes to a worker. */
export type ZoneChange = {
  readonly serial: number
  readonly put: readonly CompiledService[]
  readonly removed: readonly ServiceKey[]
}

/** Records of one type at one name; `next` are those of the other types. */
export type RecordSet = {
  readonly type: number
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  readonly next: RecordSet | undefined
}

/** A zone as an answer is looked up in it. */
export interface Zone {
  /** The zone's own name in wire form, folded, root included. */
  readonly origin: Buffer
  /** How many labels that has, the root's not included. */
  readonly labels: number
  /** The value of SOA fields. */
  readonly serial: number
  readonly ttlSeconds: number
  readonly negativeTtlSeconds: number
  /** False until everything that was known at start is in: until then a name that is missing may exist. */
  readonly loaded: boolean
  /**
   * The first record set of a name, an empty one (`start` = `end`) when the name exists without data, undefined when it
   * does not exist. SOA is not among the sets: it changes with the serial.
   */
  find(name: string): RecordSet | undefined
  /** The same for the first `length` octets of `name`. */
  findOctets(name: Buffer, length: number): RecordSet | undefined
}

/** A query as the parser leaves it: one object, filled again for each message. */
export type Query = {
  id: number
  opcode: number
  recursionDesired: boolean
  /** The question's name, folded, root included; `nameOctets` of it are valid. */
  readonly name: Buffer
  nameOctets: number
  /** Offsets in `name` at which labels begin, the root's not included; `labels` of them are valid. */
  readonly labelStarts: Uint8Array
  labels: number
  /** The octet after the question in the message; 0 when no question was read. */
  questionEnd: number
  type: number
  class: number
  edns: boolean
  ednsVersion: number
  /** The client's UDP payload size; 0 without EDNS. */
  udpOctets: number
  dnssecOk: boolean
  /** The client asked for the server's identity (RFC 5001). */
  nsid: boolean
}

/** Where an answer is written: one object, filled again for each message. */
export type Reply = {
  readonly bytes: Buffer
  length: number
  /** Octets that the sections before OPT may fill. */
  limit: number
  answers: number
  authorities: number
  additionals: number
  /** Records were left out of the answer for lack of room. */
  truncated: boolean
}

/** What is to be said: one object, filled again for each message. */
export type Decision = {
  rcode: number
  authoritative: boolean
  /** Records for the answer section. */
  set: RecordSet | undefined
  /** SOA goes into: the answer, the authority section (a negative answer), nowhere. */
  soa: 'answer' | 'authority' | 'none'
  extendedError: number
  zone: Zone | undefined
}

/** In [0, 1). */
export type Random = () => number

/** Answers one message. Whoever owns a socket calls it; that many octets of `bytes` are to be sent, none when it is 0. */
export interface Responder {
  readonly bytes: Buffer
  respond(message: Buffer, origin: Origin): number
}

/** Counts what happens. Called on every message, so it must not allocate; what it is given is filled again later. */
export interface Observer {
  /** Messages came in, all over one transport. */
  begin(): void
  /** What was to be said to them is handed over. */
  end(): void
  answered(query: Query, decision: Decision, reply: Reply, origin: Origin): void
  dropped(transport: Transport): void
  /** A fault of ours; the client gets SERVFAIL. */
  fault(thrown: unknown): void
}

/** One answer as the log tells it. */
export type LoggedAnswer = {
  readonly client: string
  readonly port: number
  readonly proto: Transport
  /** Folded; empty when no question could be read. */
  readonly name: string
  readonly type: string
  readonly rcode: string
  readonly answers: number
  readonly octets: number
}

/** `left` were more than are gathered at a time. */
export type LoggedAnswers = { readonly answers: readonly LoggedAnswer[]; readonly left: number }

/** Counts since the report before. */
export type Report = {
  readonly requests: readonly {
    readonly transport: Transport
    /** `A`, `AAAA`…, `other`. */
    readonly type: string
    readonly rcode: string
    readonly count: number
  }[]
  readonly durations: readonly {
    readonly transport: Transport
    /** One more than there are `durationBuckets`. */
    readonly counts: readonly number[]
    readonly sumSeconds: number
  }[]
  readonly dropped: Readonly<Record<Transport, number>>
  readonly truncated: Readonly<Record<Transport, number>>
  readonly faults: number
  /** The last fault's message. */
  readonly fault: string | undefined
}

/** Upper bounds in seconds: those of CoreDNS from 250 µs on, and below what an answer takes here. */
export const durationBuckets: readonly number[] = [
  0.000_005, 0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016,
  0.032, 0.064, 0.128, 0.256, 0.512, 1.024,
]
