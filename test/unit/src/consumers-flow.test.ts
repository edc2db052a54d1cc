import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Importable, ImportableKind } from '../../../src/api/kinds/importable.ts'
import { ImportedServiceKind } from '../../../src/api/kinds/imported-service.ts'
import type { MemberCluster } from '../../../src/api/kinds/member-cluster.ts'
import { wellKnown } from '../../../src/api/well-known.ts'
import { resource } from '../../../src/cluster/cluster.ts'
import { never } from '../../../src/kernel/abort.ts'
import {
  clusterSetServices,
  type MemoryFleet,
  memberClusters,
  memoryFleet,
  serviceExports,
  services,
} from '../../support/memory-fleet.ts'
import { exportWeb, headless, service, serviceExport } from '../../support/shop.ts'

let fleet: MemoryFleet

beforeEach(async () => {
  fleet = await memoryFleet({ members: ['c1', 'c2', 'c3'] })
})

afterEach(() => fleet.end())

async function exportFor(cluster: string, consumers: string): Promise<void> {
  const plain = serviceExport()
  const annotations = { [wellKnown.consumers]: consumers }
  const chosen = { ...plain, metadata: { ...plain.metadata, annotations } }
  await fleet.member(cluster).apply(serviceExports, chosen)
  await fleet.settle()
}

async function readBy(cluster: string): Promise<readonly Importable[]> {
  const { items } = await fleet.hub.list(resource(ImportableKind), { namespace: `member-${cluster}` }, never)
  return items
}

const importedServices = resource(ImportedServiceKind)
const withoutAnnotations = { ...serviceExport(), metadata: { ...serviceExport().metadata, annotations: {} } }

async function edit(id: string, spec: Partial<MemberCluster['spec']>): Promise<void> {
  const there = await fleet.hub.get(memberClusters, { name: id }, never)
  await fleet.hub.replace(memberClusters, { ...there, spec: { ...there.spec, ...spec } }, {}, never)
  await fleet.settle()
}

const ipsIn = async (cluster: string) => (await fleet.member(cluster).importOf('web'))?.spec?.ips

describe('an export for chosen clusters', () => {
  it('is not there for the others, on the hub neither', async () => {
    await exportFor('c1', 'c2')
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    expect(await readBy('c2')).toHaveLength(2)
    expect(await readBy('c3')).toEqual([])
    const written = fleet.member('c3').local.writes
    expect(written.filter(({ resource: { plural } }) => plural !== 'namespaces')).toEqual([])
  })

  it('has the same address in clusters that import different exports, also after a restart of the hub', async () => {
    await exportWeb(fleet.member('c1'), { spec: headless })
    await exportWeb(fleet.member('c2'), { address: '10.2.0.1' })
    await exportFor('c1', '')
    await exportFor('c2', 'c3')
    const [address] = (await ipsIn('c2')) ?? []
    expect(address).toMatch(/^10\.7\./)
    expect([await ipsIn('c1'), await ipsIn('c3')]).toEqual([[], [address]])
    fleet.stop()
    fleet.start()
    await fleet.member('c1').apply(services, service())
    await fleet.settle()
    for (const id of ['c1', 'c2', 'c3']) expect(await ipsIn(id)).toEqual([address])
    const stored = await fleet.hub.get(clusterSetServices, { name: 'shop.web' }, never)
    expect(stored.status.addresses).toEqual([address])
    expect(stored.status.audiences?.map(({ consumers, clusters }) => ({ consumers, clusters }))).toEqual([
      { consumers: ['c1'], clusters: ['c1'] },
      { consumers: ['c2', 'c3'], clusters: ['c2'] },
    ])
  })

  it('does no harm to those who keep it when another one loses it', async () => {
    await exportWeb(fleet.member('c1'))
    await exportFor('c1', 'c2,c3')
    fleet.member('c2').local.writes.length = 0
    await exportFor('c1', 'c2')
    expect(fleet.member('c2').local.writes).toEqual([])
    expect(await fleet.member('c3').importOf('web')).toBeUndefined()
    expect(await fleet.member('c3').slicesOf('web')).toEqual([])
  })

  it('is ready when all have an address for whom it is, and names those who have not', async () => {
    fleet.end()
    fleet = await memoryFleet({ members: ['c1', 'c2', 'c3'], cidrs: ['10.7.0.0/30'] })
    for (const name of ['first', 'second']) {
      await fleet.member('c1').apply(services, service(name))
      await fleet.member('c1').apply(serviceExports, serviceExport(name))
    }
    await fleet.settle()
    // The oldest export, which needs no address, is for its own cluster; what c2 exports needs one.
    await exportWeb(fleet.member('c1'), { spec: headless })
    await exportFor('c1', '')
    await fleet.clock.advance(5_000)
    await exportWeb(fleet.member('c2'), { address: '10.2.0.1' })
    await exportFor('c2', 'c3')
    const readyOf = async (id: string): Promise<string> => {
      const there = await fleet
        .member(id)
        .local.get(serviceExports, { namespace: 'shop', name: 'web' }, never)
      const { status, reason, message } = there.status?.conditions?.find(({ type }) => type === 'Ready') ?? {}
      return `${status}/${reason} ${message}`
    }
    expect(await readyOf('c1')).toBe('True/Exported ')
    expect(await readyOf('c2')).toMatch(/^False\/Failed no free/)
    // For others as well, whom it does not lack one: those that it chose are named, whoever else may import is not.
    await fleet.member('c2').apply(services, service('web', headless))
    await exportFor('c1', 'c3')
    await fleet.member('c1').apply(services, service())
    await fleet.settle()
    expect(await readyOf('c2')).toMatch(/^False\/Failed for c3: no free/)
    expect(await readyOf('c1')).toMatch(/^False\/Failed for c1: no free/)
    await fleet.member('c1').remove(serviceExports, { namespace: 'shop', name: 'first' })
    await fleet.settle()
    await fleet.clock.advance(61_000)
    await fleet.settle()
    expect([await readyOf('c1'), await readyOf('c2')]).toEqual(['True/Exported ', 'True/Exported '])
  })

  it('says which of them have imported it', async () => {
    await exportWeb(fleet.member('c1'))
    await exportFor('c1', 'c2,c3,c9')
    const said = async () =>
      (await fleet.member('c1').local.find(serviceExports, 'web'))?.status?.conditions?.find(
        ({ type }) => type === 'isthmus.dev/Imported',
      )
    expect(await said()).toMatchObject({
      status: 'False',
      reason: 'NotImported',
      message: 'imported by c2, c3; not imported by c9',
    })
    await exportFor('c1', 'c3')
    expect(await said()).toMatchObject({ status: 'True', reason: 'Imported', message: 'imported by c3' })
    expect(
      (await fleet.hub.list(importedServices, {}, never)).items.map(({ metadata }) => metadata.namespace),
    ).toEqual(['member-c1', 'member-c3'])
    await edit('c3', { accepted: false })
    expect(await said()).toMatchObject({ status: 'False', message: 'not imported by c3' })
    await edit('c3', { accepted: true })
    await fleet.member('c1').apply(serviceExports, withoutAnnotations)
    await fleet.settle()
    expect(await said()).toBeUndefined()
    expect((await fleet.hub.list(importedServices, {}, never)).items).toEqual([])
  })

  it('names an annotation that cannot be read in its condition', async () => {
    await exportWeb(fleet.member('c1'))
    await exportFor('c1', 'east*')
    const found = await fleet.member('c1').local.find(serviceExports, 'web')
    expect(found?.status?.conditions?.find(({ type }) => type === 'Valid')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('annotations[isthmus.dev/consumers]: "east*" is no cluster id'),
    })
    expect(await readBy('c2')).toEqual([])
  })
})
