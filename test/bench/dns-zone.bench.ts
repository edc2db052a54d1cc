// What a zone costs: to make, to change, to hold; and what the whole process weighs that serves it.
import { serviceFacts } from '../../dns/source/facts.ts'
import { compileService } from '../../dns/zone/compile.ts'
import { ZoneSnapshot } from '../../dns/zone/snapshot.ts'
import { context, createNamespace, startWorld } from '../peers/world.ts'
import { aHeadless, aSlice } from '../support/dns-objects.ts'
import { settings } from '../support/dns-zone.ts'
import { temporaryFolder } from '../support/fleet.ts'
import type { Bench, Row } from './bench.ts'
import { residentMegabytes, startScript, stopScript } from './dns-load.ts'
import { createServices } from './dns-services.ts'

const many = 10_000
const endpoints = 10

function factsOf(service: number) {
  const hosts = Array.from({ length: endpoints }, (_, i) => `h-${i} 10.${service >> 8}.${service & 255}.${i}`)
  const key = `prod/s${service}`
  return serviceFacts(aHeadless(key), [aSlice(key, 'east', ['http/TCP/80'], hosts)])
}

/** Octets that the zone holds, its records' bytes included. */
function heldOctets(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Of the whole process: what others do to the machine at the same time does not count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Puts services into a zone one by one, as messages bring them. */
function fill(
  zone: ZoneSnapshot,
  services: number,
): { readonly compileMs: number; readonly applyMs: number } {
  let compileMs = 0
  let applyMs = 0
  for (let i = 0; i < services; i++) {
    const facts = factsOf(i)
    const start = cpuMs()
    const { service } = compileService(facts, settings)
    const compiled = cpuMs()
    const put = structuredClone([service])
    const received = cpuMs()
    zone.apply({ serial: 1, put, removed: [] })
    compileMs += compiled - start
    applyMs += cpuMs() - received
  }
  return { compileMs, applyMs }
}

/** The process that serves them, after it has read them from an API server. */
async function processMegabytes(): Promise<number> {
  const folder = temporaryFolder()
  const world = await startWorld(folder.path)
  try {
    await createNamespace(world.cluster, 'prod')
    await createServices(world.cluster, many, i => ({
      namespace: 'prod',
      name: `s${i}`,
      type: 'Headless',
      ips: [],
      ports: [],
      slices: [
        {
          cluster: 'east',
          family: 'IPv4',
          ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
          endpoints: Array.from({ length: endpoints }, (_, j) => ({
            addresses: [`10.${i >> 8}.${i & 255}.${j}`],
            hostname: `h-${j}`,
            ready: true,
          })),
        },
      ],
    }))
    const server = await startScript('dns-server.ts', world.kubeconfig, context, '1')
    const megabytes = residentMegabytes(server.pid)
    await stopScript(server)
    return megabytes
  } finally {
    await world.close()
    folder.dispose()
  }
}

export const dnsZone: Bench = {
  name: 'dns zone',
  async run() {
    fill(new ZoneSnapshot(settings), 1000)
    const before = heldOctets()
    const zone = new ZoneSnapshot(settings)
    const first = fill(zone, many)
    const zoneOctets = heldOctets() - before
    const again = fill(zone, many)
    const what = `${many} services of ${endpoints}`
    const rows: Row[] = [
      { what: `${what}, compiled`, unit: 'ms CPU', value: first.compileMs },
      { what: `their ${zone.names} names, taken in`, unit: 'ms CPU', value: first.applyMs },
      {
        what: 'all of it',
        unit: 'ms CPU',
        value: first.compileMs + first.applyMs,
        must: { valueBelow: 2000 },
      },
      {
        what: 'one service changed',
        unit: 'ms CPU',
        value: (again.compileMs + again.applyMs) / many,
        must: { valueBelow: 5 },
      },
      {
        what: `a process with ${what}`,
        unit: 'MB',
        value: await processMegabytes(),
        must: { valueBelow: 300 },
      },
    ]
    if (globalThis.gc === undefined) return rows
    const megabytes = ((zoneOctets / zone.names) * 10_000) / 1e6
    return [...rows, { what: '10,000 names in a worker', unit: 'MB', value: megabytes }]
  },
}
