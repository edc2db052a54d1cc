// How long a change takes from one member to another, through the whole product in its own process.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import dns2 from 'dns2'
import { EndpointSliceKind } from '../../src/api/kinds/endpoint-slice.ts'
import { NamespaceKind } from '../../src/api/kinds/namespace.ts'
import { ServiceKind } from '../../src/api/kinds/service.ts'
import { ServiceExportKind } from '../../src/api/kinds/service-export.ts'
import { ServiceImportKind } from '../../src/api/kinds/service-import.ts'
import type { Cluster } from '../../src/cluster/cluster.ts'
import { resource } from '../../src/cluster/cluster.ts'
import { startInformer } from '../../src/cluster/informer.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { startFleet, temporaryFolder } from '../support/fleet.ts'
import { contextClient } from '../support/fleet-client.ts'
import type { Bench, Row } from './bench.ts'
import { quantile } from './quantile.ts'

const rounds = 40
const namespace = 'bench'
const limitMs = 20_000

const service = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: { clusterIP: 'None', ports: [{ name: 'http', port: 80, protocol: 'TCP' as const }] },
})

const plainService = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP' as const }] },
})

const serviceExport = (name: string) => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: { name, namespace },
})

const slice = (name: string, address: string) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
  addressType: 'IPv4' as const,
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' as const }],
})

const signalFor = (): AbortSignal => AbortSignal.timeout(limitMs)

async function createNamespace(cluster: Cluster): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  await cluster.create(resource(NamespaceKind), object, signalFor())
}

/** Milliseconds from the export in `east` to an import with an address in `west`. */
async function exportToImport(east: Cluster, west: Cluster): Promise<number[]> {
  const stop = new AbortController()
  const arrivals = new Map<string, () => void>()
  const imports = startInformer(
    west,
    resource(ServiceImportKind),
    { namespace, clock: systemClock, log: silentLogger },
    stop.signal,
  )
  imports.onChange(({ after }) => {
    if ((after?.spec?.ips?.length ?? 0) > 0) arrivals.get(after?.metadata.name ?? '')?.()
  })
  await imports.synced
  const times: number[] = []
  for (let n = 0; n < rounds; n++) {
    const name = `web-${n}`
    await east.create(resource(ServiceKind), plainService(name), signalFor())
    const arrived = new Promise<void>(resolve => arrivals.set(name, resolve))
    const started = performance.now()
    await east.create(resource(ServiceExportKind), serviceExport(name), signalFor())
    await arrived
    times.push(performance.now() - started)
  }
  stop.abort()
  return times.sort((a, b) => a - b)
}

function query(name: string): Buffer {
  const packet = new dns2.Packet()
  packet.header.id = Math.floor(Math.random() * 65_536)
  packet.questions.push(new dns2.Packet.Question(name, dns2.Packet.TYPE.A, dns2.Packet.CLASS.IN))
  return packet.toBuffer()
}

/** Asks until the answer holds `address`. */
async function untilAnswered(port: number, name: string, address: string): Promise<void> {
  const socket = createSocket('udp4')
  const bytes = Buffer.from(address.split('.').map(Number))
  const until = systemClock.now() + limitMs
  try {
    while (systemClock.now() < until) {
      socket.send(query(name), port, '127.0.0.1')
      const [answer]: Buffer[] = await once(socket, 'message', { signal: signalFor() })
      if (answer?.includes(bytes)) return
    }
    throw new Error(`${name} never answered ${address}`)
  } finally {
    socket.close()
  }
}

/** Milliseconds from an EndpointSlice change in `east` to the answer of the DNS in `west`. */
async function sliceToDns(east: Cluster, port: number): Promise<number[]> {
  await east.create(resource(ServiceKind), service('db'), signalFor())
  let current = await east.create(resource(EndpointSliceKind), slice('db', '10.1.0.1'), signalFor())
  await east.create(resource(ServiceExportKind), serviceExport('db'), signalFor())
  await untilAnswered(port, `db.${namespace}.svc.clusterset.local`, '10.1.0.1')
  const times: number[] = []
  for (let n = 0; n < rounds; n++) {
    const address = `10.1.${n + 1}.1`
    const started = performance.now()
    const changed = { ...current, endpoints: slice('db', address).endpoints }
    current = await east.replace(resource(EndpointSliceKind), changed, {}, signalFor())
    await untilAnswered(port, `db.${namespace}.svc.clusterset.local`, address)
    times.push(performance.now() - started)
  }
  return times.sort((a, b) => a - b)
}

function rows(what: string, times: readonly number[]): Row[] {
  return [
    { what: `${what}, median`, unit: 'ms', value: quantile(times, 0.5) },
    { what: `${what}, p95`, unit: 'ms', value: quantile(times, 0.95) },
  ]
}

export const propagation: Bench = {
  name: 'propagation between two members',
  async run() {
    const folder = temporaryFolder()
    const fleet = await startFleet({ home: folder.path })
    const east = await contextClient(fleet.kubeconfig, 'east')
    const west = await contextClient(fleet.kubeconfig, 'west')
    try {
      await Promise.all([createNamespace(east), createNamespace(west)])
      return [
        ...rows('export to import', await exportToImport(east, west)),
        ...rows('slice change to DNS answer', await sliceToDns(east, fleet.port + 11)),
      ]
    } finally {
      east.close()
      west.close()
      await fleet.stop()
      folder.dispose()
    }
  },
}
