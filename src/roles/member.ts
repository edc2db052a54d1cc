/** A member: the API server of one cluster, and the agent between it and the hub. */
import { join } from 'node:path'
import { ClusterClient } from '../cluster/client.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Routing } from '../derive/desired.ts'
import type { ExportWarnings } from '../export-warnings.ts'
import type { JoinToken } from '../identity/join-token.ts'
import {
  askStanding,
  joinHub,
  type Membership,
  type MembershipOptions,
  openMembership,
  readToken,
} from '../identity/membership.ts'
import { renewInTime } from '../identity/renewal.ts'
import type { Family } from '../ip/address.ts'
import { background, errorText, sleep } from '../kernel/abort.ts'
import { toTime } from '../kernel/clock.ts'
import { isReason } from '../kernel/errors.ts'
import { every } from '../kernel/work-queue.ts'
import { type MemberFlow, startMemberFlow } from '../member-flow.ts'
import type { AggregationOptions } from './aggregated-server.ts'
import { agentSubject } from './component-rights.ts'
import type { Context, Running } from './context.ts'
import { exportWarners } from './export-warners.ts'
import { type MemberCluster, ownCluster, realCluster } from './member-cluster.ts'
import { type FollowedNetworks, followNetworks } from './networks.ts'
import { type Opened, opening } from './opening.ts'
import { openFoundation, type RunningServer, type ServerOptions, startServer } from './server.ts'

export type MemberOptions = Omit<ServerOptions, 'name' | 'serves'> & {
  readonly clusterId: string
  /** Needed until the cluster has joined once, and again when the hub knows it no more. */
  readonly join: string | undefined
  /** Makes a token with which the cluster joins again when the hub knows it no more, for who runs the hub as well. */
  readonly rejoin?: (signal: AbortSignal) => Promise<string>
  readonly controllers: boolean
  /** When a kube-apiserver is underneath. */
  readonly aggregation?: AggregationOptions | undefined
  /** At most so many objects a second are written in the cluster, and as many on the hub; 200 unless told. */
  readonly writesPerSecond?: number | undefined
  /** Blocks that pods get addresses from, where the cluster does not tell. */
  readonly podCidrs?: readonly string[] | undefined
  /** How its cluster routes imports, when it is a real one; `shared` unless told. */
  readonly routing?: Routing | undefined
  /** How often the hub is told that the cluster is there; 10 s unless told. */
  readonly heartbeatMs?: number | undefined
}

export type RunningMember = Running & {
  readonly clusterId: string
  readonly running: RunningServer
  /** Whether the hub has said that it does not accept the cluster for now; then it tells it nothing. */
  readonly isShutOut: boolean
  /** Resolves when everything that the hub has for this cluster has been read once. */
  readonly synced: Promise<void>
}

const defaultHeartbeatMs = 10_000
const defaultWritesPerSecond = 200
/** So often, in heartbeats, it is looked whether the hub has other authorities. */
const beatsPerLook = 30
const firstRetryMs = 1_000
const maxRetryMs = 60_000

/** Resolves when the API server is ready. While the hub cannot be reached, joining goes on behind it. */
export function startMember(options: MemberOptions, context: Context): Promise<RunningMember> {
  return opening(context, opened => openMember(options, context, opened))
}

async function openMember(options: MemberOptions, context: Context, opened: Opened): Promise<RunningMember> {
  const { clusterId } = options
  const stop = new AbortController()
  const inner = { ...context, signal: stop.signal }
  const cluster = await clusterOf(options, context)
  opened.add(() => cluster.close())
  const { names } = cluster
  const foundation = await openFoundation({ ...options, name: clusterId, serves: 'member', names }, context)
  opened.add(() => foundation.store.close())
  const hub = options.controllers ? await openOrJoin(options, context) : noHub
  let warnings = (): ExportWarnings | undefined => undefined
  const warners = exportWarners(() => warnings())
  const running = await startServer(foundation, cluster.surround(warners), context)
  opened.add(() => running.close())
  const local = cluster.seenBesides(await running.client('agent', agentSubject))
  const { routing } = cluster
  const agent = new Agent(
    {
      ...options,
      local,
      routing,
      families: await cluster.families(inner.signal),
      ...followNetworks(cluster, options, inner),
    },
    inner,
  )
  warnings = () => agent.warnings
  opened.add(() => agent.close())
  opened.add(() => stop.abort())
  if (hub.membership !== undefined) agent.start(hub.membership)
  else if (hub.token !== undefined) agent.startWhenJoined(hub.token)
  running.server.ready(true)
  opened.add(() => running.server.leave())
  const { isShutOut } = hub
  return { clusterId, running, isShutOut, synced: agent.synced, close: () => opened.close() }
}

async function clusterOf(options: MemberOptions, context: Context): Promise<MemberCluster> {
  const { aggregation, podCidrs = [], routing = 'shared', serviceCidrs } = options
  if (aggregation === undefined) return ownCluster({ podCidrs, serviceCidrs })
  return realCluster({ aggregation, podCidrs, routing, serviceCidrs }, context)
}

type KnownHub = {
  readonly membership: Membership | undefined
  readonly isShutOut: boolean
  /** With which the cluster joins as soon as the hub can be reached, when it is no member yet. */
  readonly token: string | undefined
}

const noHub: KnownHub = { membership: undefined, isShutOut: false, token: undefined }

/** Without a membership when it has not joined and cannot for now; throws when it never will like this. */
async function openOrJoin(options: MemberOptions, context: Context): Promise<KnownHub> {
  const { clusterId, join: token, rejoin } = options
  const { clock, log, signal } = context
  const membership = await openMembership(membershipOptions(options, context))
  if (membership === undefined) {
    if (token !== undefined) return joinNow(token, options, context)
    throw new Error(
      `the cluster "${clusterId}" has not joined yet: give --join a token (isthmus token create, on the hub), or run isthmus apiserver for a cluster without a hub`,
    )
  }
  const { is, why: answer } = await askStanding(membership, clock, signal)
  const { notAfterMs } = membership.certificate
  const why = notAfterMs > clock.now() ? answer : `it expired at ${toTime(notAfterMs)}`
  if (is !== 'gone') return { ...noHub, membership, isShutOut: is === 'shut out' }
  if (token === undefined && rejoin === undefined) {
    throw new Error(
      `the hub has removed the cluster "${clusterId}" or revoked its certificate (${why}): give --join a new token (isthmus token create --cluster ${clusterId}, on the hub)`,
    )
  }
  log.warn('the hub does not know this cluster any more, joining again', { cluster: clusterId, error: why })
  const another = (await rejoin?.(signal)) ?? token ?? ''
  return joinNow(another, options, context)
}

/** Without a membership when the hub cannot be reached. */
async function joinNow(token: string, options: MemberOptions, context: Context): Promise<KnownHub> {
  try {
    const membership = await joinHub(readToken(token), membershipOptions(options, context), context.signal)
    return { ...noHub, membership }
  } catch (thrown) {
    if (!isReason(thrown, 'ServiceUnavailable')) throw thrown
    context.log.warn('the hub cannot be reached, joining later', { error: errorText(thrown) })
    return { ...noHub, token }
  }
}

function membershipOptions({ home, clusterId }: MemberOptions, { clock }: Context): MembershipOptions {
  return { folder: join(home, 'hub'), clusterId, clock }
}

type AgentOptions = MemberOptions &
  FollowedNetworks & {
    /** The API servers of its cluster, as one. */
    readonly local: Cluster
    readonly families: readonly Family[]
  }

/** What runs between the cluster and its hub. */
class Agent {
  readonly #options: AgentOptions
  readonly #context: Context
  readonly #synced = Promise.withResolvers<void>()
  #hub: ClusterClient | undefined
  #flow: MemberFlow | undefined

  constructor(options: AgentOptions, context: Context) {
    this.#options = options
    this.#context = context
    // Whoever does not wait for it is not harmed by an early end.
    this.#synced.promise.catch(() => undefined)
  }

  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /** Undefined until the cluster has joined. */
  get warnings(): ExportWarnings | undefined {
    return this.#flow?.warnings
  }

  start(membership: Membership): void {
    const { clock, log, metrics, signal } = this.#context
    const hub = new ClusterClient({
      name: 'hub',
      servers: membership.servers,
      credentials: async () => membership.credentials(),
      clock,
      metrics,
    })
    this.#hub = hub
    const renewal = {
      name: `member ${membership.clusterId}`,
      current: () => membership.certificate,
      renew: (inner: AbortSignal) => membership.renew(hub, inner),
      clock,
      log,
    }
    background('renew membership', log, signal, () => renewInTime(renewal, signal))
    this.#followAuthorities(membership, hub)
    const flow = {
      cluster: membership.clusterId,
      local: this.#options.local,
      hub,
      hubNamespace: membership.namespace,
      families: this.#options.families,
      networks: this.#options.networks,
      onNetworks: this.#options.onNetworks,
      trusts: () => membership.trusts,
      heartbeatMs: this.#options.heartbeatMs ?? defaultHeartbeatMs,
      writesPerSecond: this.#options.writesPerSecond ?? defaultWritesPerSecond,
      routing: this.#options.routing,
      service: this.#options.aggregation?.service,
      clock,
      log,
      metrics,
    }
    this.#flow = startMemberFlow(flow, signal)
    this.#synced.resolve(this.#flow.synced)
  }

  /** So that it trusts the next authority of the hub before that signs anything. */
  #followAuthorities(membership: Membership, hub: ClusterClient): void {
    const { clock, log, signal } = this.#context
    const intervalMs = beatsPerLook * (this.#options.heartbeatMs ?? defaultHeartbeatMs)
    const firstMs = intervalMs * (0.5 + Math.random() / 2)
    const task = { name: 'look for other authorities of the hub', firstMs, intervalMs, clock, log }
    const look = async (inner: AbortSignal): Promise<void> => {
      const has = await membership.followAuthorities(hub, inner)
      if (has) log.info('the hub has other authorities', { trusts: membership.trusts.join() })
    }
    background(task.name, log, signal, () => every(task, look, signal))
  }

  startWhenJoined(token: string): void {
    const { log, signal } = this.#context
    background('join the hub', log, signal, async () => this.start(await this.#join(readToken(token))))
  }

  close(): void {
    this.#hub?.close()
  }

  async #join(token: JoinToken): Promise<Membership> {
    const { clock, log, signal } = this.#context
    for (let delayMs = firstRetryMs; ; delayMs = Math.min(delayMs * 2, maxRetryMs)) {
      await sleep(clock, delayMs * (0.5 + Math.random() / 2), signal)
      try {
        return await joinHub(token, membershipOptions(this.#options, this.#context), signal)
      } catch (thrown) {
        signal.throwIfAborted()
        log.warn('not joined', { error: errorText(thrown) })
      }
    }
  }
}
