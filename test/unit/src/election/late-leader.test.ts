// A leader that stood still between its decision and the store, against a whole API server.
import { afterEach, describe, expect, it } from 'vitest'
import {
  type ClusterSetService,
  ClusterSetServiceKind,
} from '../../../../src/api/kinds/cluster-set-service.ts'
import { EventKind } from '../../../../src/api/kinds/event.ts'
import { type ExportedService, ExportedServiceKind } from '../../../../src/api/kinds/exported-service.ts'
import { ImportedServiceKind } from '../../../../src/api/kinds/imported-service.ts'
import { LeaseKind } from '../../../../src/api/kinds/lease.ts'
import { MemberClusterKind } from '../../../../src/api/kinds/member-cluster.ts'
import { NamespaceKind } from '../../../../src/api/kinds/namespace.ts'
import { formatGuard, guardHeader, isTermOver } from '../../../../src/api/write-guard.ts'
import { ClusterClient } from '../../../../src/cluster/client.ts'
import { type Cluster, resource } from '../../../../src/cluster/cluster.ts'
import { beginTerm, leases } from '../../../../src/election/lease-lock.ts'
import { startHubFlow } from '../../../../src/hub-flow.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { systemClock, toTime } from '../../../../src/kernel/clock.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { type TestServer, testServer } from '../../../support/api-server.ts'
import { eventually } from '../../../support/eventually.ts'

const kinds = [
  ClusterSetServiceKind,
  EventKind,
  ExportedServiceKind,
  ImportedServiceKind,
  LeaseKind,
  MemberClusterKind,
  NamespaceKind,
]
const services = resource(ClusterSetServiceKind)
const exportedServices = resource(ExportedServiceKind)
const members = resource(MemberClusterKind)
const namespaces = resource(NamespaceKind)
const ofTerms = { namespace: 'kube-system', name: 'isthmus-hub-term' }
const onlyAddress = '10.112.0.1'

const ends: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

function clientOf(server: TestServer, headers: Readonly<Record<string, string>> = {}): ClusterClient {
  const credentials = {
    ca: server.authority.certificate,
    cert: server.admin.certificate,
    key: server.admin.key,
  }
  const client = new ClusterClient({
    name: 'hub',
    servers: [server.url],
    credentials: async () => credentials,
    clock: systemClock,
    headers,
  })
  ends.push(() => client.close())
  return client
}

async function aHub(): Promise<{ readonly server: TestServer; readonly admin: ClusterClient }> {
  const server = await testServer({ kinds })
  ends.push(() => server.close())
  const admin = clientOf(server)
  for (const name of ['kube-system', 'member-east']) {
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, never)
  }
  const member = {
    apiVersion: members.apiVersion,
    kind: members.kind,
    metadata: { name: 'east' },
    spec: { accepted: true, credentialGeneration: 1 },
  }
  const made = await admin.create(members, member, never)
  const status = { namespace: 'member-east', firstAcceptedTime: toTime(systemClock.now()) }
  await admin.replace(members, { ...made, status }, { subresource: 'status' }, never)
  return { server, admin }
}

async function beginsTerm(server: TestServer, identity: string): Promise<ClusterClient> {
  const options = { cluster: clientOf(server), lease: ofTerms, identity, timeOfDay: systemClock }
  const version = await beginTerm(options, never)
  const lease = { group: leases.group, resource: leases.plural }
  return clientOf(server, { [guardHeader]: formatGuard(lease, ofTerms, version ?? '') })
}

/** Merges, with one address for all. */
async function leads(hub: Cluster): Promise<void> {
  const stop = new AbortController()
  const options = { hub, clusterSetCidrs: [`${onlyAddress}/32`], quarantineMs: 0 }
  const base = { clock: systemClock, log: silentLogger, metrics: noMetrics }
  ends.push(() => stop.abort())
  await startHubFlow({ ...options, ...base }, stop.signal).started
}

/** A cluster whose creations of ClusterSetServices are on their way until they are let through. */
function held(cluster: ClusterClient) {
  const sent = Promise.withResolvers<void>()
  const letThrough = Promise.withResolvers<void>()
  const outcome = Promise.withResolvers<unknown>()
  const slow: Cluster = Object.assign(Object.create(cluster), {
    name: cluster.name,
    create: async (...[of, object, signal]: Parameters<Cluster['create']>) => {
      if (of.plural !== services.plural) return cluster.create(of, object, signal)
      sent.resolve()
      await letThrough.promise
      const made = cluster.create(of, object, signal)
      made.then(outcome.resolve, outcome.resolve)
      return made
    },
  })
  // Methods of a client are its own.
  for (const verb of ['get', 'list', 'watch', 'replace', 'mergePatch', 'delete'] as const)
    Object.assign(slow, { [verb]: Reflect.get(cluster, verb).bind(cluster) })
  return { slow, sent: sent.promise, letThrough: () => letThrough.resolve(), outcome: outcome.promise }
}

function anExport(service: string): ExportedService {
  return {
    apiVersion: exportedServices.apiVersion,
    kind: exportedServices.kind,
    metadata: { namespace: 'member-east', name: `shop.${service}` },
    spec: {
      namespace: 'shop',
      service,
      exportedAt: '2026-01-02T03:04:05Z',
      exportGeneration: 1,
      definition: { type: 'ClusterSetIP', ipFamilies: ['IPv4'], ports: [{ port: 80, protocol: 'TCP' }] },
    },
  }
}

async function holders(admin: ClusterClient): Promise<readonly string[]> {
  const { items } = await admin.list(services, {}, never)
  const having = items.filter(({ status }: ClusterSetService) => status.addresses.includes(onlyAddress))
  return having.map(({ metadata }) => metadata.name).sort()
}

/**
 * The first leader has decided to create `shop.web` with the only address when it stands still. The next one finds
 * neither, and gives the address to `shop.db`; then the first one goes on.
 */
async function goesOnTooLate(first: (server: TestServer) => Promise<ClusterClient>) {
  const { server, admin } = await aHub()
  const { slow, sent, letThrough, outcome } = held(await first(server))
  await leads(slow)
  await admin.create(exportedServices, anExport('web'), never)
  await sent
  await admin.delete(exportedServices, { namespace: 'member-east', name: 'shop.web' }, { signal: never })
  await admin.create(exportedServices, anExport('db'), never)
  await leads(await beginsTerm(server, 'second'))
  await eventually(async () => expect(await holders(admin)).toEqual(['shop.db']))
  letThrough()
  return { admin, outcome: await outcome }
}

describe('a leader that goes on after the next term has begun', () => {
  it('writes nothing', async () => {
    const { admin, outcome } = await goesOnTooLate(server => beginsTerm(server, 'first'))
    expect(isTermOver(outcome)).toBe(true)
    expect(await holders(admin)).toEqual(['shop.db'])
  })

  it('would give one address to two services if its writes did not depend on its term', async () => {
    const { outcome } = await goesOnTooLate(async server => clientOf(server))
    expect(outcome).toMatchObject({ metadata: { name: 'shop.web' }, status: { addresses: [onlyAddress] } })
  })
})
