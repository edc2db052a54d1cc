// A hub and members on in-process clusters: the whole flow without a socket, on a clock of the test's.
import { memberNamespace } from '../../src/api/cluster-id.ts'
import { ClusterSetServiceKind } from '../../src/api/kinds/cluster-set-service.ts'
import { EndpointSliceKind } from '../../src/api/kinds/endpoint-slice.ts'
import { ExportedEndpointSliceKind } from '../../src/api/kinds/exported-endpoint-slice.ts'
import { ExportedServiceKind } from '../../src/api/kinds/exported-service.ts'
import { kinds } from '../../src/api/kinds/index.ts'
import { MemberClusterKind } from '../../src/api/kinds/member-cluster.ts'
import { type Namespace, NamespaceKind } from '../../src/api/kinds/namespace.ts'
import { ServiceKind } from '../../src/api/kinds/service.ts'
import { ServiceExportKind } from '../../src/api/kinds/service-export.ts'
import { ServiceImportKind } from '../../src/api/kinds/service-import.ts'
import type { Condition, KubeObject, ObjectMeta } from '../../src/api/meta.ts'
import { type Ref, type Resource, resource } from '../../src/cluster/cluster.ts'
import { MemoryCluster, type MemoryRequest } from '../../src/cluster/memory.ts'
import type { Routing } from '../../src/derive/desired.ts'
import type { ExportWarnings } from '../../src/export-warnings.ts'
import type { Networks } from '../../src/heartbeat/lease.ts'
import { type HubFlow, startHubFlow } from '../../src/hub-flow.ts'
import type { Family } from '../../src/ip/address.ts'
import { never } from '../../src/kernel/abort.ts'
import { toTime } from '../../src/kernel/clock.ts'
import { isReason } from '../../src/kernel/errors.ts'
import { memoryLogger } from '../../src/kernel/log.ts'
import { type Metrics, noMetrics } from '../../src/kernel/metrics.ts'
import { startMemberFlow } from '../../src/member-flow.ts'
import { type Link, linkTo } from './link.ts'
import { type ManualClock, manualClock, settled } from './manual-clock.ts'
import { type Skew, through } from './skew.ts'
import { startViewBridge } from './view-bridge.ts'

export const serviceExports = resource(ServiceExportKind)
export const serviceImports = resource(ServiceImportKind)
export const services = resource(ServiceKind)
export const slices = resource(EndpointSliceKind)
export const namespaces = resource(NamespaceKind)
export const memberClusters = resource(MemberClusterKind)
export const clusterSetServices = resource(ClusterSetServiceKind)
export const exportedServices = resource(ExportedServiceKind)
export const exportedSlices = resource(ExportedEndpointSliceKind)

export type FleetOptions = {
  readonly members?: readonly string[]
  readonly cidrs?: readonly string[]
  readonly quarantineMs?: number
  /** Of every member; as good as without a bound unless told. */
  readonly writesPerSecond?: number
  readonly families?: Readonly<Record<string, readonly Family[]>>
  readonly networks?: Readonly<Record<string, Networks>>
  /** Of every member's cluster. */
  readonly routing?: Routing
  /** Of members that are of another release than the hub. */
  readonly skews?: Readonly<Record<string, Skew>>
  /** Of the hub, for one start. */
  readonly metrics?: Metrics
  /** Of members, for one start. */
  readonly memberMetrics?: Readonly<Record<string, Metrics>>
}

/** A cluster that counts what is written to it, apart from heartbeats: they come with time. */
export class TestCluster extends MemoryCluster {
  readonly writes: (MemoryRequest & { readonly atMs: number })[]
  /** Throws what is not to be carried out. */
  admit: ((request: MemoryRequest) => void) | undefined
  readonly #dating: { atMs: number | undefined }

  constructor(name: string, clock: ManualClock) {
    const writes: TestCluster['writes'] = []
    const dating: { atMs: number | undefined } = { atMs: undefined }
    const hooks = { admit: (request: MemoryRequest): void => this.admit?.(request) }
    super({
      name,
      clock: { ...clock, now: () => dating.atMs ?? clock.now() },
      kinds,
      intercept: request => {
        hooks.admit(request)
        if (['get', 'list', 'watch'].includes(request.verb) || isHeartbeat(request)) return
        writes.push({ ...request, atMs: clock.now() })
      },
    })
    this.writes = writes
    this.#dating = dating
  }

  /** What is created meanwhile is of that time. */
  async dated<R>(atMs: number, call: () => Promise<R>): Promise<R> {
    this.#dating.atMs = atMs
    try {
      return await call()
    } finally {
      this.#dating.atMs = undefined
    }
  }

  async find<O>(of: Resource<O>, name: string, namespace?: string): Promise<O | undefined> {
    const { items } = await this.list(of, namespace === undefined ? {} : { namespace }, never)
    // Every object of an API has metadata.
    return items.find(item => (item as unknown as KubeObject).metadata.name === name)
  }
}

function isHeartbeat({ resource: { plural }, subresource }: MemoryRequest): boolean {
  return plural === 'leases' || (plural === 'memberclusters' && subresource === 'status')
}

export class MemoryMember {
  readonly id: string
  readonly local: TestCluster
  /** This member's way to the hub. */
  readonly hub: Link
  warnings: ExportWarnings | undefined
  readonly #fleet: MemoryFleet
  readonly #networkListeners: (() => void)[] = []
  readonly #metrics: Metrics
  #networks: Networks
  #running = new AbortController()

  constructor(id: string, fleet: MemoryFleet) {
    this.id = id
    this.#fleet = fleet
    this.#metrics = fleet.options.memberMetrics?.[id] ?? noMetrics
    this.#networks = fleet.options.networks?.[id] ?? { services: [], pods: [] }
    this.local = new TestCluster(id, fleet.clock)
    const skew = fleet.options.skews?.[id]
    this.hub = linkTo(skew === undefined ? fleet.hub : through(fleet.hub, skew))
  }

  start(): void {
    this.#running = new AbortController()
    const flow = startMemberFlow(
      {
        cluster: this.id,
        local: this.local,
        hub: this.hub,
        hubNamespace: memberNamespace(this.id),
        families: this.#fleet.options.families?.[this.id] ?? ['IPv4', 'IPv6'],
        networks: () => this.#networks,
        onNetworks: listener => this.#networkListeners.push(listener),
        trusts: () => [],
        heartbeatMs: 10_000,
        writesPerSecond: this.#fleet.options.writesPerSecond ?? 100_000,
        routing: this.#fleet.options.routing,
        clock: this.#fleet.clock,
        log: this.#fleet.log,
        metrics: this.#metrics,
      },
      this.#running.signal,
    )
    this.warnings = flow.warnings
  }

  stop(): void {
    this.#running.abort()
  }

  /** It learns of other blocks that its cluster uses. */
  learn(networks: Networks): void {
    this.#networks = networks
    for (const listener of this.#networkListeners) listener()
  }

  async namespace(name: string): Promise<void> {
    const created = await this.local.create(namespaces, namespaceOf(name), never)
    const active = { ...created, status: { phase: 'Active' } }
    await this.local.replace(namespaces, active, { subresource: 'status' }, never)
  }

  /** Creates, or replaces what has the name, as often as somebody else comes in between. */
  async apply<O extends { readonly metadata: ObjectMeta }>(of: Resource<O>, object: O): Promise<O> {
    const { name, namespace } = object.metadata
    for (;;) {
      const there = await this.local.find(of, name, namespace)
      if (there === undefined) return this.local.create(of, object, never)
      const metadata = { ...there.metadata, ...object.metadata }
      try {
        return await this.local.replace(of, { ...there, ...object, metadata }, {}, never)
      } catch (thrown) {
        if (!isReason(thrown, 'Conflict')) throw thrown
      }
    }
  }

  async remove(of: Resource<unknown>, ref: Ref): Promise<void> {
    await this.local.delete(of, ref, { signal: never })
  }

  async importOf(name: string, namespace = 'shop') {
    return this.local.find(serviceImports, name, namespace)
  }

  /** Imported slices of a service, by source cluster and name. */
  async slicesOf(name: string, namespace = 'shop') {
    const { items } = await this.local.list(
      slices,
      { namespace, labelSelector: `multicluster.kubernetes.io/service-name=${name}` },
      never,
    )
    return items
  }

  /** `Valid=True/Valid` and so on, by type. */
  async conditionsOf(name: string, namespace = 'shop'): Promise<Readonly<Record<string, string>>> {
    return textOf((await this.local.find(serviceExports, name, namespace))?.status?.conditions)
  }
}

function namespaceOf(name: string): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

export function textOf(conditions: readonly Condition[] | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries((conditions ?? []).map(c => [c.type, `${c.status}/${c.reason}`]))
}

export class MemoryFleet {
  readonly options: FleetOptions
  readonly clock = manualClock()
  readonly log = memoryLogger()
  readonly hub: TestCluster
  /** Of the last start. */
  flow: HubFlow | undefined
  readonly #members = new Map<string, MemoryMember>()
  #running = new AbortController()

  constructor(options: FleetOptions) {
    this.options = options
    this.hub = new TestCluster('hub', this.clock)
  }

  member(id: string): MemoryMember {
    const member = this.#members.get(id)
    if (member === undefined) throw new Error(`no member ${id}`)
    return member
  }

  get members(): readonly MemoryMember[] {
    return [...this.#members.values()]
  }

  /** Starts the controllers of the hub. */
  start(): void {
    this.#running = new AbortController()
    this.flow = startHubFlow(
      {
        hub: this.hub,
        clusterSetCidrs: this.options.cidrs ?? ['10.7.0.0/24', 'fd07::/112'],
        quarantineMs: this.options.quarantineMs ?? 60_000,
        clock: this.clock,
        log: this.log,
        metrics: this.options.metrics ?? noMetrics,
      },
      this.#running.signal,
    )
    startViewBridge(this.hub, this.clock, this.#running.signal)
  }

  stop(): void {
    this.#running.abort()
  }

  /** Stops the members, and the hub. */
  end(): void {
    for (const member of this.members) member.stop()
    this.stop()
  }

  async join(id: string): Promise<MemoryMember> {
    const member = new MemoryMember(id, this)
    this.#members.set(id, member)
    const created = await this.hub.create(
      memberClusters,
      {
        apiVersion: 'hub.isthmus.dev/v1alpha1',
        kind: 'MemberCluster',
        metadata: { name: id },
        spec: { accepted: true, credentialGeneration: 1 },
      },
      never,
    )
    const status = { namespace: memberNamespace(id), firstAcceptedTime: toTime(this.clock.now()) }
    await this.hub.replace(memberClusters, { ...created, status }, { subresource: 'status' }, never)
    member.start()
    return member
  }

  /** Resolves when nothing happens any more unless time passes. */
  async settle(): Promise<void> {
    let seen = ''
    for (let quiet = 0; quiet < 3; ) {
      await settled()
      const now = this.#revisions()
      quiet = now === seen ? quiet + 1 : 0
      seen = now
    }
  }

  #revisions(): string {
    return [this.hub, ...this.members.map(member => member.local)]
      .map(cluster => cluster.writes.length)
      .join()
  }
}

/** A fleet that runs, with the namespace `shop` in every member. */
export async function memoryFleet(options: FleetOptions = {}): Promise<MemoryFleet> {
  const fleet = new MemoryFleet(options)
  fleet.start()
  for (const id of options.members ?? ['c1', 'c2']) {
    const member = await fleet.join(id)
    await member.namespace('shop')
  }
  await fleet.settle()
  return fleet
}
