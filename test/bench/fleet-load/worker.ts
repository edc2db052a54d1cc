// A process of the load benches: embedded API servers, and the real agents and DNS views of the members that share them. A
// member sees one namespace of its server, as if it were its whole cluster.
import { join } from 'node:path'
import type { ServiceFacts } from '../../../dns/contract.ts'
import { watchServices } from '../../../dns/source/watch.ts'
import { ClusterRoleKind } from '../../../src/api/kinds/cluster-role.ts'
import { ClusterRoleBindingKind } from '../../../src/api/kinds/cluster-role-binding.ts'
import type { EndpointSlice } from '../../../src/api/kinds/endpoint-slice.ts'
import { NamespaceKind } from '../../../src/api/kinds/namespace.ts'
import { ClusterClient } from '../../../src/cluster/client.ts'
import { type Cluster, resource } from '../../../src/cluster/cluster.ts'
import { joinHub, type Membership, readToken } from '../../../src/identity/membership.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { silentLogger } from '../../../src/kernel/log.ts'
import { noMetrics } from '../../../src/kernel/metrics.ts'
import { startMemberFlow } from '../../../src/member-flow.ts'
import { agentRoutingRules, agentSubject, dnsSubject } from '../../../src/roles/component-rights.ts'
import { type RunningMember, startMember } from '../../../src/roles/member.ts'
import { narrowed, Tally } from './narrowed.ts'
import {
  type ChangePlan,
  endpointSlices,
  exportOf,
  type FromWorker,
  type ServerPlan,
  type ServicePlan,
  serviceExports,
  serviceOf,
  services,
  sliceName,
  slicesOf,
  type ToWorker,
  withAddress,
} from './plan.ts'

const clock = systemClock
const log = silentLogger
const namespaces = resource(NamespaceKind)
const roles = resource(ClusterRoleKind)
const bindings = resource(ClusterRoleBindingKind)
const running = new AbortController()
const { signal } = running
const admin = { user: 'admin', groups: ['system:masters'] }
/** So many requests at once, of what a worker itself writes. */
const parallel = 8

type Started = {
  readonly plan: ServerPlan['members'][number]
  /** As an administrator, as the agent and as the DNS of the cluster. */
  readonly local: Cluster
  readonly agent: Cluster
  readonly dns: Cluster
  readonly membership: Membership
}

const servers: RunningMember[] = []
const members = new Map<string, Started>()
/** Of what the servers of all members have told. */
const tally = new Tally()

function tell(message: FromWorker): void {
  process.send?.(message)
}

async function each<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items]
  const one = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item)
  }
  await Promise.all(Array.from({ length: parallel }, one))
}

async function startServer({ home, members: plans, port }: ServerPlan): Promise<void> {
  const server = await startMember(
    {
      clusterId: 'shared',
      home,
      host: '127.0.0.1',
      port,
      advertise: undefined,
      serviceCidrs: ['10.96.0.0/14'],
      clientCa: undefined,
      join: undefined,
      controllers: false,
    },
    { clock, log, metrics: noMetrics, signal },
  )
  servers.push(server)
  const user = await server.running.client('user', admin)
  await letAgentsRoute(user)
  await each(plans, async plan => {
    const { running: api } = server
    const view = { id: plan.id, namespace: plan.namespace, tally }
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: plan.namespace } }
    await user.create(namespaces, object, signal)
    const options = { folder: join(home, `hub-${plan.id}`), clusterId: plan.id, clock }
    members.set(plan.id, {
      plan,
      local: user,
      agent: narrowed(await api.client(`agent-${plan.id}`, agentSubject), view),
      dns: narrowed(await api.client(`dns-${plan.id}`, dnsSubject), view),
      membership: await joinHub(readToken(plan.token), options, signal),
    })
  })
}

/** What is bound where a cluster routes packets, on top of what a standalone server has. */
async function letAgentsRoute(user: Cluster): Promise<void> {
  const { apiVersion, kind } = roles
  const metadata = { name: 'routing' }
  await user.create(roles, { apiVersion, kind, metadata, rules: agentRoutingRules }, signal)
  const apiGroup = roles.group
  await user.create(
    bindings,
    {
      apiVersion,
      kind: bindings.kind,
      metadata,
      roleRef: { apiGroup, kind, name: metadata.name },
      subjects: [{ apiGroup, kind: 'User', name: agentSubject.user }],
    },
    signal,
  )
}

/** Resolves when it has read its cluster and the hub. */
function startAgent({ agent, membership, plan }: Started): Promise<void> {
  const hub = new ClusterClient({
    name: 'hub',
    servers: membership.servers,
    credentials: async () => membership.credentials(),
    clock,
  })
  const { synced } = startMemberFlow(
    {
      cluster: plan.id,
      local: agent,
      hub,
      hubNamespace: membership.namespace,
      families: ['IPv4'],
      trusts: () => membership.trusts,
      networks: () => ({ services: ['10.96.0.0/14'], pods: [] }),
      onNetworks: () => undefined,
      heartbeatMs: 10_000,
      writesPerSecond: 200,
      routing: 'shared',
      clock,
      log,
      metrics: noMetrics,
    },
    signal,
  )
  return synced
}

async function prepare({ local, plan }: Started): Promise<void> {
  await each(plan.services, async service => {
    await local.create(services, serviceOf(plan.namespace, service), signal)
    for (const slice of slicesOf(plan.namespace, service)) await local.create(endpointSlices, slice, signal)
  })
}

/** Tells what the DNS of the member would answer for a headless service, whenever that changes. Resolves when it knows. */
function view({ dns, plan }: Started): Promise<void> {
  const source = watchServices({ cluster: dns, clock, log }, signal)
  // No address comes back once it was changed.
  const known = new Map<string, Set<string>>()
  source.onChange(key => {
    const facts = source.facts(key)
    if (facts?.type !== 'Headless') return
    const before = known.get(key) ?? new Set()
    known.set(key, before)
    const { added, names } = newIn(facts, before)
    tell({ type: 'view', member: plan.id, key, added, names, atMs: nowMs() })
  })
  return source.synced
}

/** The addresses that are not known, which they are then, and how many endpoints there are. Services may be wide. */
function newIn({ slices }: ServiceFacts, known: Set<string>) {
  const added: string[] = []
  let names = 0
  for (const { endpoints } of slices) {
    names += endpoints.length
    for (const { addresses } of endpoints) {
      for (const address of addresses) {
        if (known.has(address)) continue
        known.add(address)
        added.push(address)
      }
    }
  }
  return { added, names }
}

/** Wall time that is the same in every process of a machine. */
const nowMs = (): number => performance.timeOrigin + performance.now()

/** As they were written last. Nobody else writes them. */
const sources = new Map<string, Promise<EndpointSlice>>()

/** Changes of one slice one after the other, as they were asked for. */
async function change(plan: ChangePlan): Promise<void> {
  const { endpoint, member: id, service: name } = plan
  const member = members.get(id)
  const service = member?.plan.services.find(each => each.name === name)
  if (member === undefined || service === undefined) throw new Error(`no service ${name}`)
  const { local } = member
  const ref = { namespace: member.plan.namespace, name: sliceName(service, endpoint) }
  const key = `${id} ${ref.name}`
  const there = sources.get(key) ?? local.get(endpointSlices, ref, signal)
  const written = there.then(slice => changed(local, slice, plan))
  sources.set(key, written)
  await written
}

async function changed(
  local: Cluster,
  slice: EndpointSlice,
  { address, endpoint }: ChangePlan,
): Promise<EndpointSlice> {
  const atMs = nowMs()
  const written = await local.replace(endpointSlices, withAddress(slice, endpoint, address), {}, signal)
  tell({ type: 'changed', address, atMs })
  return written
}

async function start(plans: readonly ServerPlan[]): Promise<void> {
  for (const plan of plans) await startServer(plan)
  for (const member of members.values()) await prepare(member)
  tell({ type: 'done' })
}

async function startAgents(): Promise<void> {
  await each([...members.values()], member => Promise.all([startAgent(member), view(member)]))
  tell({ type: 'done' })
}

async function exportSome(isOne: (service: ServicePlan) => boolean): Promise<void> {
  const all = [...members.values()].flatMap(({ local, plan }) =>
    plan.services.filter(isOne).map(service => ({ local, object: exportOf(plan.namespace, service) })),
  )
  await each(all, ({ local, object }) => local.create(serviceExports, object, signal))
  tell({ type: 'done' })
}

async function obey(message: ToWorker): Promise<void> {
  switch (message.type) {
    case 'start':
      return start(message.servers)
    case 'agents':
      return startAgents()
    case 'export':
      return exportSome(({ number }) => number >= message.from && number < message.to)
    case 'count':
      return tell({ type: 'counts', ...tally.counts() })
    case 'change':
      return change(message)
  }
}

process.on('message', (message: ToWorker) => {
  obey(message).catch((thrown: unknown) => tell({ type: 'failed', error: String(thrown) }))
})
// The bench has ended, however it did.
process.on('disconnect', () => process.exit(0))
