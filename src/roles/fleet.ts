/** Hub, members and their DNS in one process on loopback: the same roles as on their own, joined by tokens. */
import { join } from 'node:path'
import type { Identity } from '../identity/certificate.ts'
import { openMembership } from '../identity/membership.ts'
import { openAuthority, openClient } from '../identity/server-identity.ts'
import { prometheus } from '../telemetry/prometheus.ts'
import { dnsSubject } from './component-rights.ts'
import type { Context, Running } from './context.ts'
import { startDnsRole } from './dns.ts'
import { openHome } from './home.ts'
import { type RunningHub, startHub } from './hub.ts'
import { type KubeconfigContext, writeKubeconfig } from './kubeconfig-file.ts'
import { type RunningMember, startMember } from './member.ts'
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
  readonly quarantineMs: number
  /** Of every server. */
  readonly serviceCidrs: readonly string[]
}

/** With the authority of the fleet's administrator, PEM. */
type Opened = FleetOptions & { readonly clientCa: string }

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
  const started: Running[] = []
  const close = async (): Promise<void> => {
    for (const running of started.toReversed()) await running.close()
  }
  try {
    const opened = { ...options, home, clientCa: authority.certificate }
    const hub = await startHub(hubOptions(opened), own(context, 'hub'))
    started.push(hub)
    const contexts = options.members.map(id => own(context, id))
    const members = await startMembers(opened, hub, contexts)
    started.push(...members)
    if (options.controllers) started.push(...(await startResponders(opened, members, contexts)))
    await writeKubeconfig(join(home, 'kubeconfig'), contextsOf(options, hub, members, user))
    return { close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

async function startMembers(
  options: Opened,
  hub: RunningHub,
  contexts: readonly Context[],
): Promise<readonly RunningMember[]> {
  const starts = contexts.map(async (context, at) => {
    const { home, members } = options
    const clusterId = members[at] ?? ''
    const token = options.controllers ? await tokenFor(hub, clusterId, { home, context }) : undefined
    return startMember(memberOptions(options, at, token), context)
  })
  return allOrNone(starts)
}

/** Resolves when they answer with all that the hub has. */
async function startResponders(
  options: FleetOptions,
  members: readonly RunningMember[],
  contexts: readonly Context[],
): Promise<readonly Running[]> {
  const starts = members.map(async (member, at) => {
    const context = contexts[at]
    if (context === undefined) throw new Error(`no context for the member ${member.clusterId}`)
    const role = {
      cluster: await member.running.client('dns', dnsSubject),
      host,
      port: options.port + dnsOffset + at,
      home: join(options.home, 'members', member.clusterId),
      ttlSeconds,
      workers: 1,
      lameDuckMs: 0,
    }
    const dns = await startDnsRole(role, context)
    await member.synced
    return dns
  })
  return allOrNone(starts)
}

/** All of them; when one does not start, those that did are closed again. */
async function allOrNone<R extends Running>(starts: readonly Promise<R>[]): Promise<readonly R[]> {
  const outcomes = await Promise.allSettled(starts)
  const failed = outcomes.find(outcome => outcome.status === 'rejected')
  const running = outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  if (failed === undefined) return running
  await Promise.all(running.map(one => one.close()))
  throw failed.reason
}

/** Each server counts for itself, as if it were alone; a member and its DNS together. */
function own(context: Context, server: string): Context {
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

function hubOptions(options: Opened) {
  return {
    home: join(options.home, 'hub'),
    host,
    port: options.port,
    advertise: undefined,
    serviceCidrs: options.serviceCidrs,
    clientCa: options.clientCa,
    clusterSetCidrs: options.clusterSetCidrs,
    quarantineMs: options.quarantineMs,
    controllers: options.controllers,
  }
}

function memberOptions(options: Opened, at: number, token: string | undefined) {
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
    controllers: options.controllers,
  }
}

/** A member that has joined before needs none. */
async function tokenFor(
  hub: RunningHub,
  clusterId: string,
  { home, context }: { readonly home: string; readonly context: Context },
): Promise<string | undefined> {
  const { clock, signal } = context
  const folder = join(home, 'members', clusterId, 'hub')
  if ((await openMembership({ folder, clusterId, clock })) !== undefined) return undefined
  const { identity, addresses } = hub.running
  const options = { clusterId, lifetimeMs: tokenLifeMs, servers: addresses, ca: identity.caBundle, clock }
  return createToken(hub.admin, options, signal)
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
