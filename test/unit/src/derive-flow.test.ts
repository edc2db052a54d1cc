// Derived Services and the slices that kube-proxy finds by them, on members whose clusters route packets.
import { afterEach, describe, expect, it } from 'vitest'
import { derivedServiceName } from '../../../src/api/derived-service.ts'
import type { Service } from '../../../src/api/kinds/service.ts'
import type { Routing } from '../../../src/derive/desired.ts'
import { never } from '../../../src/kernel/abort.ts'
import { seenBy } from '../../cases/seen.ts'
import {
  clusterSetServices,
  type MemoryFleet,
  type MemoryMember,
  memoryFleet,
  serviceExports,
  serviceImports,
  services,
  slices,
} from '../../support/memory-fleet.ts'
import { exportWeb, service, serviceExport } from '../../support/shop.ts'

let running: MemoryFleet | undefined

/** Two members, of which the first exports `web`. */
async function fleetOf(routing: Routing): Promise<MemoryFleet> {
  running = await memoryFleet({ routing })
  await exportWeb(running.member('c1'))
  await running.settle()
  return running
}

afterEach(() => {
  running?.end()
  running = undefined
})

const name = derivedServiceName({ namespace: 'shop', name: 'web' })
const ref = { namespace: 'shop', name }
const derivedIn = (member: MemoryMember): Promise<Service | undefined> =>
  member.local.find(services, name, 'shop')

describe('where ClusterSetIPs are routed', () => {
  it('every cluster has a Service with the address of the import, and slices of it', async () => {
    const fleet = await fleetOf('shared')
    for (const member of fleet.members) {
      const imported = await member.importOf('web')
      const ingress = imported?.spec?.ips?.map(ip => ({ ip, ipMode: 'VIP' }))
      const derived = await derivedIn(member)
      expect(ingress).not.toEqual([])
      expect(derived?.status?.loadBalancer?.ingress).toEqual(ingress)
      const owner = { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceImport', name: 'web' }
      const ownerReferences = [{ ...owner, uid: imported?.metadata.uid }]
      expect(derived?.metadata.ownerReferences).toEqual(ownerReferences)
      const found = await member.slicesOf('web')
      expect(found).toHaveLength(1)
      expect(found[0]?.metadata).toMatchObject({
        labels: { 'kubernetes.io/service-name': name },
        ownerReferences,
      })
    }
  })

  it('B64: a Service of somebody else that has the name of a derived one, until it is gone', async () => {
    running = await memoryFleet({ routing: 'shared' })
    const c2 = running.member('c2')
    const own = service(name, { ports: [{ name: 'x', protocol: 'TCP', port: 1 }] })
    await c2.local.create(services, own, never)
    await exportWeb(running.member('c1'))
    await running.settle()
    const saidIn = async (id: string) => (await running?.member(id).importOf('web'))?.status?.conditions
    expect(await saidIn('c1')).toMatchObject([{ status: 'True', reason: 'Ready' }])
    const [told] = (await saidIn('c2')) ?? []
    expect(told).toMatchObject({ status: 'False', reason: 'ServiceNameTaken' })
    expect(told?.message).toContain(`the Service ${name}`)
    expect((await derivedIn(c2))?.spec).toEqual(own.spec)
    await c2.remove(services, ref)
    await running.settle()
    expect(await saidIn('c2')).toMatchObject([{ status: 'True', reason: 'Ready', message: '' }])
    expect((await derivedIn(c2))?.status?.loadBalancer?.ingress).toHaveLength(1)
  })

  it('B82: another address, of a hub that gives a new one, is everywhere at once or nowhere', async () => {
    const fleet = await fleetOf('shared')
    const [before] = (await fleet.member('c1').importOf('web'))?.spec?.ips ?? []
    fleet.stop()
    const css = await fleet.hub.get(clusterSetServices, { name: 'shop.web' }, never)
    const ips = ['10.7.0.77']
    const given = { ...css, spec: { ...css.spec, ips }, status: { ...css.status, addresses: ips } }
    await fleet.hub.replace(clusterSetServices, given, {}, never)
    fleet.start()
    await fleet.settle()
    expect(before).not.toBe('10.7.0.77')
    for (const member of fleet.members) {
      expect((await member.importOf('web'))?.spec?.ips).toEqual(ips)
      expect((await derivedIn(member))?.status?.loadBalancer?.ingress).toMatchObject([{ ip: '10.7.0.77' }])
      expect(await seenBy(member, 'web', ['web'])).toMatchObject({
        import: { addresses: 'IPv4', ready: 'True/Ready' },
        slices: ['c1 http:8080 10.1.0.1'],
      })
    }
    // Nobody else is given what the service has now, and the earlier address is free.
    await fleet.member('c1').apply(services, service('other'))
    await fleet.member('c1').apply(serviceExports, serviceExport('other'))
    await fleet.settle()
    expect((await fleet.member('c2').importOf('other'))?.spec?.ips).not.toContain('10.7.0.77')
  })

  it('what others edit or delete comes back', async () => {
    const fleet = await fleetOf('shared')
    const member = fleet.member('c2')
    const before = await derivedIn(member)
    const options = { signal: never }
    await member.local.mergePatch(services, ref, { spec: { selector: { app: 'x' } } }, options)
    await fleet.settle()
    expect((await derivedIn(member))?.spec).toEqual(before?.spec)
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }
    await member.local.mergePatch(services, ref, { status }, { ...options, subresource: 'status' })
    await fleet.settle()
    expect((await derivedIn(member))?.status).toEqual(before?.status)
    await member.local.delete(services, ref, options)
    await fleet.settle()
    const again = await derivedIn(member)
    expect([again?.spec, again?.status]).toEqual([before?.spec, before?.status])
    const [slice] = await member.slicesOf('web')
    const patch = { metadata: { labels: { 'kubernetes.io/service-name': 'other' }, ownerReferences: null } }
    await member.local.mergePatch(
      slices,
      { namespace: 'shop', name: slice?.metadata.name ?? '' },
      patch,
      options,
    )
    await fleet.settle()
    const [mended] = await member.slicesOf('web')
    expect(mended?.metadata).toMatchObject({
      labels: slice?.metadata.labels,
      ownerReferences: slice?.metadata.ownerReferences,
    })
  })

  it('an import that was deleted by hand comes back with all that it owns', async () => {
    const fleet = await fleetOf('shared')
    const member = fleet.member('c2')
    await member.local.delete(serviceImports, { namespace: 'shop', name: 'web' }, { signal: never })
    await fleet.settle()
    const uid = (await member.importOf('web'))?.metadata.uid
    expect((await derivedIn(member))?.metadata.ownerReferences).toMatchObject([{ uid }])
    expect((await member.slicesOf('web'))[0]?.metadata.ownerReferences).toMatchObject([{ uid }])
  })

  it('the Service goes with the export', async () => {
    const fleet = await fleetOf('shared')
    await fleet
      .member('c1')
      .local.delete(serviceExports, { namespace: 'shop', name: 'web' }, { signal: never })
    await fleet.settle()
    for (const member of fleet.members) expect(await derivedIn(member)).toBeUndefined()
  })

  it('a Service of somebody else under that name is left alone', async () => {
    running = await memoryFleet({ routing: 'shared' })
    const member = running.member('c2')
    const theirs = { apiVersion: 'v1', kind: 'Service', metadata: ref, spec: { clusterIP: 'None' } }
    await member.local.create(services, theirs, never)
    await exportWeb(running.member('c1'))
    await running.settle()
    expect((await derivedIn(member))?.spec).toEqual(theirs.spec)
  })
})

describe('where they are not', () => {
  it('the import has the address that its Service is given', async () => {
    const fleet = await fleetOf('local')
    const member = fleet.member('c2')
    const before = await member.importOf('web')
    expect(before?.spec?.ips).toEqual([])
    expect(before?.status?.conditions).toMatchObject([{ type: 'Ready', status: 'False', reason: 'Pending' }])
    expect((await derivedIn(member))?.spec).toMatchObject({ type: 'ClusterIP' })
    // What kube-apiserver does on create.
    const given = { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] }
    await member.local.mergePatch(services, ref, { spec: given }, { signal: never })
    await fleet.settle()
    const after = await member.importOf('web')
    expect(after?.spec?.ips).toEqual(['10.96.0.9'])
    expect(after?.status?.conditions).toMatchObject([{ type: 'Ready', status: 'True' }])
    expect((await derivedIn(member))?.spec).toMatchObject(given)
    expect((await derivedIn(member))?.status).toBeUndefined()
  })
})
