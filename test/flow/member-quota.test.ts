// A member that takes all the room that it is given on a real hub, and no more, and whom that harms: nobody else.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportedSliceName } from '../../src/api/kinds/exported-endpoint-slice.ts'
import { ClusterClient } from '../../src/cluster/client.ts'
import { openMembership } from '../../src/identity/membership.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { isOverQuota } from '../../src/kernel/errors.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import type { Running } from '../../src/roles/context.ts'
import { type RunningMember, startMember } from '../../src/roles/member.ts'
import { type JoinableHub, listening, startJoinableHub } from '../support/aggregation.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import {
  exportedServices,
  exportedSlices,
  namespaces,
  serviceExports,
  serviceImports,
  services,
} from '../support/memory-fleet.ts'
import { headless, service, serviceExport } from '../support/shop.ts'

const folder = temporaryFolder()
const stop = new AbortController()
const context = { clock: systemClock, log: silentLogger, metrics: noMetrics, signal: stop.signal }
const memberQuota = { exports: 20, slices: 30, bytes: 200_000 }
const running: Running[] = []
let hub: JoinableHub
let east: RunningMember
/** With the certificate of west, whose agent is stopped. */
let liar: ClusterClient

const signal = (): AbortSignal => AbortSignal.timeout(20_000)

beforeAll(async () => {
  const port = await freePorts()
  hub = await startJoinableHub(join(folder.path, 'hub'), { port, memberQuota })
  running.push(hub)
  east = await joined('east', port + 1)
  running.push(east)
  const west = await joined('west', port + 2)
  await west.close()
  const membership = await openMembership({
    folder: join(folder.path, 'west', 'hub'),
    clusterId: 'west',
    clock: systemClock,
  })
  if (membership === undefined) throw new Error('west has not joined')
  liar = new ClusterClient({
    name: 'hub',
    servers: membership.servers,
    credentials: async () => membership.credentials(),
    clock: systemClock,
    metrics: noMetrics,
  })
}, 120_000)
afterAll(async () => {
  liar.close()
  for (const one of running.toReversed()) await one.close()
  stop.abort()
  folder.dispose()
})

async function joined(clusterId: string, port: number): Promise<RunningMember> {
  const options = { ...listening, controllers: true, clusterId, home: join(folder.path, clusterId), port }
  return startMember({ ...options, join: await hub.token(clusterId) }, context)
}

const definition = {
  type: 'ClusterSetIP' as const,
  ports: [{ name: 'http', port: 80, protocol: 'TCP' as const }],
  ipFamilies: ['IPv4' as const],
}

function exportOf(name: string) {
  const { apiVersion, kind } = exportedServices
  const spec = {
    namespace: 'shop',
    service: name,
    exportedAt: '2026-01-02T03:04:05Z',
    exportGeneration: 1,
    definition,
  }
  return { apiVersion, kind, metadata: { namespace: 'member-west', name: `shop.${name}` }, spec }
}

function sliceOf(name: string, endpoints: number) {
  const { apiVersion, kind } = exportedSlices
  const spec = {
    namespace: 'shop',
    service: 'web0',
    slice: name,
    addressType: 'IPv4' as const,
    endpoints: Array.from({ length: endpoints }, (_, at) => ({
      addresses: [`10.66.${at >> 8}.${at & 255}`],
    })),
    ports: [],
  }
  return {
    apiVersion,
    kind,
    metadata: { namespace: 'member-west', name: exportedSliceName('shop', name) },
    spec,
  }
}

/** How many of these creations the hub has taken, and the first that it has not. */
async function tryAll(creations: readonly (() => Promise<unknown>)[]): Promise<[number, unknown]> {
  let taken = 0
  let refused: unknown
  for (const create of creations) {
    try {
      await create()
      taken += 1
    } catch (thrown) {
      refused ??= thrown
    }
  }
  return [taken, refused]
}

const times = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at))

describe('a member with more exports than the hub has room for', () => {
  it('is refused what is too much, and told which quota that is', async () => {
    const [taken, refused] = await tryAll(
      times(200, at => () => liar.create(exportedServices, exportOf(`web${at}`), signal())),
    )
    // What is not yet counted may pass.
    expect(taken).toBeGreaterThanOrEqual(20)
    expect(taken).toBeLessThan(40)
    expect(isOverQuota(refused)).toBe(true)
    expect(String(refused)).toMatch(
      /exceeded quota: member-exports, requested: count\/exportedservices\.hub\.isthmus\.dev=1, used: .*=2\d, limited: .*=20$/,
    )
  }, 60_000)

  it('keeps no more on the hub than it may, in small pieces or in large ones', async () => {
    const small = await tryAll(
      times(60, at => () => liar.create(exportedSlices, sliceOf(`s${at}`, 1), signal())),
    )
    expect(small[0]).toBeGreaterThanOrEqual(30)
    expect(small[0]).toBeLessThan(50)
    expect(String(small[1])).toContain('exceeded quota: member-slices')
    const there = await liar.list(exportedSlices, { namespace: 'member-west' }, signal())
    const grown = await tryAll(
      there.items.map(item => () => {
        const { spec } = sliceOf(item.spec.slice, 1_000)
        return liar.replace(exportedSlices, { ...item, spec }, {}, signal())
      }),
    )
    expect(grown[0]).toBeLessThan(there.items.length)
    expect(String(grown[1])).toContain('exceeded quota: member-size')
  }, 60_000)

  it('harms nobody else, and is let in again when it makes room', async () => {
    const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
    const { operator } = east.running
    await operator.create(namespaces, shop, signal())
    const { clusterIP: _clusterIP, ...spec } = service().spec ?? {}
    await operator.create(services, { ...service('honest'), spec: { ...spec, ...headless } }, signal())
    await operator.create(serviceExports, serviceExport('honest'), signal())
    const ref = { namespace: 'shop', name: 'honest' }
    await eventually(async () => {
      expect((await operator.get(serviceImports, ref, signal())).status?.clusters).toEqual([
        { cluster: 'east' },
      ])
      const { status } = await operator.get(serviceExports, ref, signal())
      expect(status?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toContain('Ready Exported')
    }, 30_000)
    await liar.deleteCollection(exportedSlices, { namespace: 'member-west' }, signal())
    await liar.deleteCollection(exportedServices, { namespace: 'member-west' }, signal())
    await eventually(() => liar.create(exportedServices, exportOf('again'), signal()), 30_000)
  }, 90_000)
})
