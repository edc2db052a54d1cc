// A process of the load bench: embedded API servers, and the real agents and DNS views of the members that share them. A
// member sees one namespace of its server, as if it were its whole cluster.
import { join } from 'node:path'
import { watchServices } from '../../../dns/source/watch.ts'
import { NamespaceKind } from '../../../src/api/kinds/namespace.ts'
import { ClusterClient } from '../../../src/cluster/client.ts'
import { type Cluster, resource } from '../../../src/cluster/cluster.ts'
import { joinHub, type Membership, readToken } from '../../../src/identity/membership.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { silentLogger } from '../../../src/kernel/log.ts'
import { noMetrics } from '../../../src/kernel/metrics.ts'
import { startMemberFlow } from '../../../src/member-flow.ts'
import { type RunningMember, startMember } from '../../../src/roles/member.ts'
import { narrowed, Tally } from './narrowed.ts'
import {
  endpointSlices,
  exportOf,
  type FromWorker,
  type MemberPlan,
  type ServerPlan,
  serviceExports,
  serviceOf,
  services,
  sliceOf,
  type ToWorker,
} from './plan.ts'

const clock = systemClock
const log = silentLogger
const namespaces = resource(NamespaceKind)
const running = new AbortController()
const { signal } = running
const admin = { user: 'system:isthmus:operator', groups: ['system:masters'] }
/** So many requests at once, of what a worker itself writes. */
const parallel = 8

type Started = {
  readonly plan: MemberPlan
  readonly local: Cluster
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
  await each(plans, async plan => {
    const client = await server.running.client(`agent-${plan.id}`, admin)
    const local = narrowed(client, { id: plan.id, namespace: plan.namespace, tally })
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: plan.namespace } }
    await local.create(namespaces, object, signal)
    const options = { folder: join(home, `hub-${plan.id}`), clusterId: plan.id, clock }
    const membership = await joinHub(readToken(plan.token), options, signal)
    members.set(plan.id, { plan, local, membership })
  })
}

function startAgent({ local, membership, plan }: Started): void {
  const hub = new ClusterClient({
    name: 'hub',
    servers: membership.servers,
    credentials: async () => membership.credentials(),
    clock,
  })
  startMemberFlow(
    {
      cluster: plan.id,
      local,
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
}

async function prepare({ local, plan }: Started): Promise<void> {
  await each(plan.services, async service => {
    await local.create(services, serviceOf(plan.namespace, service), signal)
    await local.create(endpointSlices, sliceOf(plan.namespace, service, service.address), signal)
  })
}

/** Tells what the DNS of the member would answer for a headless service, whenever that changes. */
function view({ local, plan }: Started): void {
  const source = watchServices({ cluster: local, clock, log }, signal)
  source.onChange(key => {
    const facts = source.facts(key)
    if (facts?.type !== 'Headless') return
    const addresses = facts.slices.flatMap(({ endpoints }) =>
      endpoints.flatMap(endpoint => endpoint.addresses),
    )
    tell({ type: 'view', member: plan.id, key, first: addresses[0] ?? '', atMs: nowMs() })
  })
}

/** Wall time that is the same in every process of a machine. */
const nowMs = (): number => performance.timeOrigin + performance.now()

async function change(message: Extract<ToWorker, { type: 'change' }>): Promise<void> {
  const member = members.get(message.member)
  const service = member?.plan.services.find(({ name }) => name === message.service)
  if (member === undefined || service === undefined) throw new Error(`no service ${message.service}`)
  const wanted = sliceOf(member.plan.namespace, service, message.address)
  const ref = { namespace: member.plan.namespace, name: wanted.metadata.name }
  const there = await member.local.get(endpointSlices, ref, signal)
  const atMs = nowMs()
  await member.local.replace(endpointSlices, { ...there, endpoints: wanted.endpoints }, {}, signal)
  tell({
    type: 'changed',
    key: `${member.plan.namespace}/${message.service}`,
    address: message.address,
    atMs,
  })
}

async function start(plans: readonly ServerPlan[]): Promise<void> {
  for (const plan of plans) await startServer(plan)
  for (const member of members.values()) await prepare(member)
  tell({ type: 'done', what: 'start' })
}

function startAgents(): void {
  for (const member of members.values()) {
    startAgent(member)
    view(member)
  }
  tell({ type: 'done', what: 'agents' })
}

async function exportAll(): Promise<void> {
  const all = [...members.values()].flatMap(({ local, plan }) =>
    plan.services.map(service => ({ local, object: exportOf(plan.namespace, service) })),
  )
  await each(all, ({ local, object }) => local.create(serviceExports, object, signal))
  tell({ type: 'done', what: 'export' })
}

async function obey(message: ToWorker): Promise<void> {
  switch (message.type) {
    case 'start':
      return start(message.servers)
    case 'agents':
      return startAgents()
    case 'export':
      return exportAll()
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
