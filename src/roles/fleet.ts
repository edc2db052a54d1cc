/** Hub, members and their DNS in one process on loopback: the same roles as on their own, joined by tokens. */
import { join } from 'node:path'
import type { Identity } from '../identity/certificate.ts'
import { forgetMembership, openMembership } from '../identity/membership.ts'
import { openAuthority, openClient } from '../identity/server-identity.ts'
import { unlessAborted } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import { prometheus } from '../telemetry/prometheus.ts'
import { dnsSubject } from './component-rights.ts'
import type { Context, Running } from './context.ts'
import { startDnsRole } from './dns.ts'
import { openHome } from './home.ts'
import { type RunningHub, startHub } from './hub.ts'
import { type KubeconfigContext, writeKubeconfig } from './kubeconfig-file.ts'
import { type MemberOptions, type RunningMember, startMember } from './member.ts'
import { type Opened, opening } from './opening.ts'
import { type PortClaim, requirePorts } from './ports.ts'
import type { RunningServer } from './server.ts'
import { createToken } from './token.ts'

export type FleetOptions = {
  readonly home: string
  /** The hub's; members follow on +1, +2…, their DNS on +10, +11…. */
  readonly port: number
  /** Cluster ids, at most nine. */
  readonly members: readonly string[]
  /** Without controllers only the API servers run. */
  readonly controllers: boolean
  readonly clusterSetCidrs: readonly string[]
  /** See `HubOptions`. */
  readonly rereadCidrs?: (() => readonly string[]) | undefined
  readonly quarantineMs: number
  /** Of every server. */
  readonly serviceCidrs: readonly string[]
}

/** With the authority of the fleet's administrator, PEM. */
type Own = FleetOptions & { readonly clientCa: string }

const host = '127.0.0.1'
const dnsOffset = 10
const tokenLifeMs = 600_000
const ttlSeconds = 5
const admin = { user: 'admin', groups: ['system:masters'] }

/** Resolves when everything answers. */
export async function startFleet(options: FleetOptions, context: Context): Promise<Running> {
  await requirePorts(portsOf(options))
  const home = await openHome(options.home)
  const { clock } = context
  const authority = await openAuthority({ file: join(home, 'admin-ca'), name: 'isthmus fleet admin', clock })
  const user = await openClient({ file: join(home, 'admin'), authority, subject: admin, clock })
  return opening(context, async opened => {
    const own = { ...options, home, clientCa: authority.certificate }
    const hub = await startHub(hubOptions(own), metered(context, 'hub'))
    opened.add(() => hub.close())
    const contexts = options.members.map(id => metered(context, id))
    const scope = { context, opened }
    const members = await together(contexts, scope, (each, at, signal) =>
      startOwn(own, hub, { ...each, signal }, at),
    )
    const pairs = options.controllers
      ? members.map((member, at) => ({ member, context: contexts[at] ?? context }))
      : []
    await together(pairs, scope, (each, at, signal) =>
      startResponder(options, each.member, { ...each.context, signal }, at),
    )
    await writeKubeconfig(join(home, 'kubeconfig'), contextsOf(options, hub, members, user))
    return { close: () => opened.close() }
  })
}

/** A member whose hub is the fleet's. */
async function startOwn(options: Own, hub: RunningHub, context: Context, at: number): Promise<RunningMember> {
  const clusterId = options.members[at] ?? ''
  const folder = join(options.home, 'members', clusterId, 'hub')
  if (!options.controllers) return startMember(memberOptions(options, at, {}), context)
  const rejoin = (signal: AbortSignal): Promise<string> => tokenFor(hub, clusterId, context.clock, signal)
  const membership = await openMembership({ folder, clusterId, clock: context.clock })
  const knows = membership?.credentials().ca === hub.running.identity.caBundle
  // The port of the fleet may be another than before.
  if (knows) await membership?.follow(hub.running.addresses)
  if (membership !== undefined && !knows) {
    context.log.warn('the hub has another authority than before, joining again', { cluster: clusterId })
    await forgetMembership(folder)
  }
  const token = knows ? undefined : await rejoin(context.signal)
  return startMember(memberOptions(options, at, { join: token, rejoin }), context)
}

/** Resolves when it answers with all that the hub has. */
async function startResponder(
  { port, home }: FleetOptions,
  member: RunningMember,
  context: Context,
  at: number,
): Promise<Running> {
  const role = {
    cluster: await member.running.client('dns', dnsSubject),
    host,
    port: port + dnsOffset + at,
    home: join(home, 'members', member.clusterId),
    ttlSeconds,
    workers: 1,
    lameDuckMs: 0,
  }
  return opening(context, async opened => {
    const dns = await startDnsRole(role, context)
    opened.add(() => dns.close())
    if (!member.isShutOut) await unlessAborted(member.synced, context.signal)
    return dns
  })
}

/** Starts one for each. When one fails the others start no further, and it rejects when they have ended. */
async function together<T, R extends Running>(
  those: readonly T[],
  { context, opened }: { readonly context: Context; readonly opened: Opened },
  start: (one: T, at: number, signal: AbortSignal) => Promise<R>,
): Promise<readonly R[]> {
  const stop = new AbortController()
  const signal = AbortSignal.any([context.signal, stop.signal])
  const starts = those.map(async (one, at) => {
    const running = await start(one, at, signal)
    opened.add(() => running.close())
    return running
  })
  try {
    return await Promise.all(starts)
  } catch (thrown) {
    stop.abort(thrown)
    await Promise.allSettled(starts)
    throw thrown
  }
}

/** Each server counts for itself, as if it were alone; a member and its DNS together. */
function metered(context: Context, server: string): Context {
  return { ...context, metrics: prometheus({ processMetrics: server === 'hub' }) }
}

function portsOf({ port, members, controllers }: FleetOptions): readonly PortClaim[] {
  const advice = 'choose another with --port'
  const claim = (owner: string, offset: number, protocols: PortClaim['protocols']): PortClaim => ({
    owner,
    host,
    port: port + offset,
    protocols,
    advice,
  })
  return [
    claim('the hub', 0, ['TCP']),
    ...members.map((id, at) => claim(`the member ${id}`, 1 + at, ['TCP'])),
    ...(controllers
      ? members.map((id, at) => claim(`the DNS of ${id}`, dnsOffset + at, ['TCP', 'UDP']))
      : []),
  ]
}

function hubOptions(options: Own) {
  return {
    home: join(options.home, 'hub'),
    host,
    port: options.port,
    advertise: undefined,
    serviceCidrs: options.serviceCidrs,
    clientCa: options.clientCa,
    clusterSetCidrs: options.clusterSetCidrs,
    rereadCidrs: options.rereadCidrs,
    quarantineMs: options.quarantineMs,
    controllers: options.controllers,
  }
}

type Joining = Partial<Pick<MemberOptions, 'join' | 'rejoin'>>

function memberOptions(options: Own, at: number, { join: token, ...joining }: Joining): MemberOptions {
  const clusterId = options.members[at] ?? ''
  return {
    clusterId,
    home: join(options.home, 'members', clusterId),
    host,
    port: options.port + 1 + at,
    advertise: undefined,
    serviceCidrs: options.serviceCidrs,
    clientCa: options.clientCa,
    join: token,
    ...joining,
    controllers: options.controllers,
  }
}

function tokenFor(
  { admin: hub, running }: RunningHub,
  clusterId: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  const { identity, addresses } = running
  const options = { clusterId, lifetimeMs: tokenLifeMs, servers: addresses, ca: identity.caBundle, clock }
  return createToken(hub, options, signal)
}

function contextsOf(
  options: FleetOptions,
  hub: RunningHub,
  members: readonly RunningMember[],
  user: Identity,
): readonly KubeconfigContext[] {
  const contextOf = (name: string, { identity, localUrl }: RunningServer): KubeconfigContext => ({
    name,
    server: localUrl,
    ca: identity.caBundle,
    user,
  })
  return [
    ...members.map((member, at) => contextOf(options.members[at] ?? '', member.running)),
    contextOf('hub', hub.running),
  ]
}
