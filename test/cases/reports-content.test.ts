// What users of other implementations reported of ports, labels, slices and answers: each test is named after the kind
// of fault.
import { afterEach, describe, expect, it } from 'vitest'
import { never } from '../../src/kernel/abort.ts'
import { type MemoryFleet, memoryFleet, serviceExports, services, slices } from '../support/memory-fleet.ts'
import { slice } from '../support/shop.ts'
import { exporting, happen, serving, sliceOf, unexport } from './acts.ts'
import { type Act, ok } from './case.ts'
import { exportsSeen, seenBy } from './seen.ts'

let fleet: MemoryFleet

async function opened(...acts: readonly Act[]): Promise<void> {
  fleet = await memoryFleet({ members: ['c1', 'c2', 'c3'] })
  await happens(...acts)
}

const happens = (...acts: readonly Act[]): Promise<void> => happen(fleet, acts)

afterEach(() => fleet.end())

const seenIn = (member: string, ...questions: readonly string[]) =>
  seenBy(fleet.member(member), 'web', questions)
const spec = { clusterIP: 'None' }
const web = { namespace: 'shop', name: 'web' }
const numbered = (count: number, from: number) =>
  Array.from({ length: count }, (_, at) => `10.1.${Math.floor((from + at) / 250)}.${(from + at) % 250}`)

const labelled =
  (labels: Readonly<Record<string, string | null>>): Act =>
  async fleet => {
    await fleet.member('c1').local.mergePatch(services, web, { metadata: { labels } }, { signal: never })
  }

describe('conflicts and ports', () => {
  it('B31: only the newcomer is told of a conflict, or not what it is about', async () => {
    await opened(...exporting('c1@10'), ...exporting('c2@20', { ports: 'http:8080' }))
    for (const id of ['c1', 'c2']) {
      const { status } = await fleet.member(id).local.get(serviceExports, web, never)
      expect(status?.conditions?.find(({ type }) => type === 'Conflict')).toMatchObject({
        status: 'True',
        reason: 'PortConflict',
        message: expect.stringMatching(
          /^ports: using http:80\/TCP, .*c1 is the oldest.* 1 of 2 clusters differ$/,
        ),
      })
    }
  })

  it('B32: two services of one cluster in conflict', async () => {
    await opened(...exporting('c1@10'), ...exporting('c1@20', { name: 'b', ports: 'http:90' }))
    for (const name of ['web', 'b']) expect(await exportsSeen(fleet, name)).toEqual({ c1: ok })
  })

  it('B43: a traffic policy that the import has not', async () => {
    await opened(...exporting('c1@10', { spec: { internalTrafficPolicy: 'Local' } }))
    expect((await seenIn('c2')).import).toMatchObject({ internal: 'Local' })
  })

  it('B44: a service that stays as the first member made it', async () => {
    await opened(...exporting('c1@10'), ...exporting('c2@20', { ports: 'http:90' }))
    await happens(serving('c1', { ports: 'http:81' }), sliceOf('c1', 'IPv4', { ports: 'http:81' }))
    expect((await seenIn('c3')).import).toMatchObject({ ports: 'http:81/TCP' })
    await happens(unexport('c1'))
    expect((await seenIn('c3')).import).toMatchObject({ ports: 'http:90/TCP' })
  })

  it('B47: endpoints of a cluster that has not exported', async () => {
    await opened(serving('c1'), sliceOf('c1', 'IPv4'), ...exporting('c2@20'))
    for (const { id } of fleet.members) {
      expect(await seenIn(id)).toMatchObject({
        import: { clusters: 'c2' },
        slices: ['c2 http:8080 10.2.0.1'],
      })
    }
  })

  it('B83: an address that changes with endpoints and exporters', async () => {
    await opened(...exporting('c1@10'))
    const ips = async () => (await fleet.member('c3').importOf('web'))?.spec?.ips
    const before = await ips()
    expect(before).toHaveLength(1)
    for (let round = 0; round < 20; round++) {
      const endpoints = [{ addresses: [`10.1.1.${round}`] }]
      await happens(sliceOf('c1', 'IPv4', { endpoints }))
      await happens(...(round % 2 === 0 ? exporting('c2@20') : [unexport('c2')]))
      expect(await ips()).toEqual(before)
    }
  })
})

describe('slices', () => {
  it('B49: slices without the labels that others find them by', async () => {
    await opened(...exporting('c1@10'), ...exporting('c2@20'))
    for (const { metadata } of await fleet.member('c3').slicesOf('web')) {
      expect(metadata.labels).toMatchObject({
        'multicluster.kubernetes.io/service-name': 'web',
        'multicluster.kubernetes.io/source-cluster': expect.stringMatching(/^c[12]$/),
        'endpointslice.kubernetes.io/managed-by': 'agent.isthmus.dev',
      })
    }
  })

  it('B50: a label of the Service makes a second slice', async () => {
    await opened(...exporting('c1@10'))
    await happens(labelled({ a: '1' }))
    await happens(labelled({ a: '2' }))
    await happens(labelled({ a: null }))
    const endpoints = [{ addresses: ['10.1.0.9'] }]
    await happens(sliceOf('c1', 'IPv4', { endpoints }))
    expect((await seenIn('c2')).slices).toEqual(['c1 http:8080 10.1.0.9'])
  })

  it('B52: a label of a slice exports it again, or a Service whose generation stays is not seen', async () => {
    await opened(...exporting('c1@10'))
    fleet.hub.writes.length = 0
    const patch = { metadata: { labels: { touched: 'yes' } } }
    const ref = { namespace: 'shop', name: 'web-ipv4' }
    await fleet.member('c1').local.mergePatch(slices, ref, patch, { signal: never })
    await fleet.settle()
    expect(fleet.hub.writes).toEqual([])
    await happens(serving('c1', { ports: 'http:81' }))
    expect((await seenIn('c2')).import).toMatchObject({ ports: 'http:81/TCP' })
  })

  it('B58: endpoints beyond a thousand are cut off', async () => {
    await opened(...exporting('c1@10', { spec, endpoints: [] }))
    for (const [at, count] of [1_000, 1_000, 500].entries()) {
      await fleet.member('c1').apply(slices, slice(`web-${at}`, numbered(count, at * 1_000)))
    }
    await fleet.settle()
    const found = await fleet.member('c2').slicesOf('web')
    const addresses = found.flatMap(({ endpoints }) => endpoints.flatMap(endpoint => endpoint.addresses))
    expect(new Set(addresses).size).toBe(2_500)
  })

  it('B61, B62: one address in two slices is answered twice, or one of its ports is lost', async () => {
    await opened(...exporting('c1@10', { spec }))
    const ports = [{ name: 'http', protocol: 'TCP', port: 8081 }]
    await fleet.member('c1').apply(slices, slice('web-more', ['10.1.0.1'], { ports }))
    await fleet.settle()
    expect((await seenIn('c2', 'web A', 'web SRV')).dns).toEqual({
      'web A': '10.1.0.1',
      'web SRV': '0 100 8080 10-1-0-1.c1.web, 0 100 8081 10-1-0-1.c1.web',
    })
  })
})

describe('answers', () => {
  it('B67: no endpoint, and nobody knows what the answer means', async () => {
    await opened(
      ...exporting('c1@10', { endpoints: [] }),
      ...exporting('c2@20', { name: 'db', spec, endpoints: [] }),
    )
    expect((await seenIn('c3', 'web A', 'db A')).dns).toEqual({ 'web A': 'VIP4', 'db A': 'NXDOMAIN' })
  })

  it('B68: the pod of the own cluster that is not ready is answered, not the other’s that is', async () => {
    const endpoints = [{ addresses: ['10.1.0.1'], conditions: { ready: false } }]
    await opened(...exporting('c1@10', { spec, endpoints }), ...exporting('c2@20', { spec }))
    expect((await seenIn('c1', 'web A')).dns).toEqual({ 'web A': '10.2.0.1' })
  })

  it('B65, B80: pods of a StatefulSet over two clusters have no names', async () => {
    const pod = (address: string, hostname: string) => ({ addresses: [address], hostname })
    const first = [pod('10.1.0.1', 'web-0'), pod('10.1.0.2', 'web-1')]
    const second = [pod('10.2.0.1', 'web-2')]
    await opened(
      ...exporting('c1@10', { spec, endpoints: first }),
      ...exporting('c2@20', { spec, endpoints: second }),
    )
    const names = { 'web-0.c1.web A': '10.1.0.1', 'web-1.c1.web A': '10.1.0.2', 'web-2.c2.web A': '10.2.0.1' }
    for (const { id } of fleet.members) {
      expect((await seenIn(id, ...Object.keys(names))).dns).toEqual(names)
    }
  })
})
