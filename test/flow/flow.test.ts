// The whole way from an export in one cluster to an answer in another, over HTTPS with RBAC on, on real stores.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tableCells, tableColumns } from '../../src/api/derive/table.ts'
import { EventKind } from '../../src/api/kinds/event.ts'
import { ImportableKind } from '../../src/api/kinds/importable.ts'
import { type MemberCluster, MemberClusterKind } from '../../src/api/kinds/member-cluster.ts'
import { resource } from '../../src/cluster/cluster.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { eventually } from '../support/eventually.ts'
import { memberClusters, serviceExports, serviceImports } from '../support/memory-fleet.ts'
import { shownCells } from '../support/table-cells.ts'
import { type Deployment, type Member, members, oneProcess, separateProcesses } from './deployment.ts'
import { name, Shop, signal } from './shop.ts'

const importables = resource(ImportableKind)

/** What `kubectl get` shows, by the names of the columns. */
function columnsOf(member: MemberCluster): Readonly<Record<string, unknown>> {
  const cells = shownCells(tableCells(MemberClusterKind, member), systemClock.now())
  return Object.fromEntries(tableColumns(MemberClusterKind).map(({ name }, at) => [name, cells[at]]))
}

describe.each([
  ['in one process', oneProcess],
  ['in processes of their own', separateProcesses],
] as const)('a hub and two members %s', (_, deploy) => {
  let deployment: Deployment
  let shop: Shop

  beforeAll(async () => {
    deployment = await deploy()
    shop = new Shop(deployment)
    for (const member of members) await shop.open(member)
  }, 120_000)

  afterAll(async () => {
    await deployment.stop()
  })

  it('are known to the hub as available, with what their clusters can do', async () => {
    await eventually(async () => {
      const { items } = await deployment.client('hub').list(memberClusters, {}, signal())
      expect(items.map(({ metadata }) => metadata.name)).toEqual(members)
      for (const member of items) {
        expect(member.status).toMatchObject({ ipFamilies: ['IPv4', 'IPv6'], clockSkewSeconds: 0 })
        expect(columnsOf(member)).toMatchObject({
          Available: 'True',
          Heartbeat: expect.stringMatching(/^\d+s$/),
        })
      }
    })
  })

  it('import what one exports, and answer for it', async () => {
    await shop.export('east', 'web', { addresses: ['10.1.0.1'] })
    const { spec } = await eventually(() => shop.readyImport('west', 'web'))
    for (const member of members) {
      await eventually(async () => {
        expect((await shop.readyImport(member, 'web')).spec?.ips).toEqual(spec?.ips)
        expect(await shop.addressesOf(member, name('web'))).toEqual(spec?.ips)
        expect(await shop.endpointsOf(member, 'web')).toEqual(['10.1.0.1'])
      })
    }
    await eventually(async () =>
      expect(await shop.conditionsOf('east', 'web')).toEqual({
        Valid: 'True/Valid',
        Ready: 'True/Exported',
        Conflict: 'False/NoConflicts',
      }),
    )
  })

  it('join the endpoints of a headless service, each by its own name', async () => {
    await shop.export('east', 'db', { addresses: ['10.1.0.21'], isHeadless: true, hostname: 'db-0' })
    await shop.export('west', 'db', { addresses: ['10.2.0.21'], isHeadless: true, hostname: 'db-0' })
    for (const member of members) {
      await eventually(async () => {
        expect(await shop.addressesOf(member, name('db'))).toEqual(['10.1.0.21', '10.2.0.21'])
        expect(await shop.addressesOf(member, `db-0.east.${name('db')}`)).toEqual(['10.1.0.21'])
        expect(await shop.addressesOf(member, `db-0.west.${name('db')}`)).toEqual(['10.2.0.21'])
      })
    }
  })

  it('follow endpoints that move', async () => {
    await shop.exportHeadless('moving')
    await shop.move('east', 'moving', '10.1.0.42')
    await shop.expectAnswers('moving', ['10.1.0.42', '10.2.0.41'])
  })

  it('tell both exports of a conflict, in a condition and an Event', async () => {
    await shop.export('east', 'checkout', { addresses: ['10.1.0.31'] })
    await eventually(() => shop.readyImport('west', 'checkout'))
    await shop.export('west', 'checkout', { addresses: ['10.2.0.31'], port: 8080 })
    for (const member of members) {
      await eventually(async () => {
        expect(await shop.conditionsOf(member, 'checkout')).toMatchObject({ Conflict: 'True/PortConflict' })
        const selection = { namespace: 'shop', fieldSelector: 'involvedObject.name=checkout,reason=Conflict' }
        const { items } = await deployment.client(member).list(resource(EventKind), selection, signal())
        const message = expect.stringContaining('ports: using http:80/TCP')
        expect(items).toMatchObject([{ type: 'Warning', message }])
      })
      // The disputed port reaches only the cluster that has it.
      await eventually(async () => expect(await shop.endpointsOf(member, 'checkout')).toEqual(['10.1.0.31']))
    }
  })

  it('mend an import that somebody deletes', async () => {
    await shop.export('east', 'mended', { addresses: ['10.1.0.1'] })
    const before = await eventually(() => shop.readyImport('west', 'mended'))
    const client = deployment.client('west')
    await client.delete(serviceImports, { namespace: 'shop', name: 'mended' }, { signal: signal() })
    await eventually(async () => {
      const after = await shop.readyImport('west', 'mended')
      expect(after.metadata.uid).not.toBe(before.metadata.uid)
      expect(after.spec).toEqual(before.spec)
    })
  })

  it('find everything as it was after SIGKILL, without writing anything anew', async () => {
    await shop.export('east', 'kept', { addresses: ['10.1.0.1'] })
    await shop.exportHeadless('lasting')
    await eventually(() => shop.readyImport('west', 'kept'))
    await shop.expectAnswers('lasting', ['10.1.0.41', '10.2.0.41'])
    const seen = () =>
      Promise.all(members.flatMap(m => ['kept', 'lasting'].map(what => shop.importOf(m, what))))
    const before = await seen()
    await deployment.restart()
    await eventually(async () => expect(await seen()).toEqual(before))
    // What comes now has been through every part.
    await shop.move('east', 'lasting', '10.1.0.42')
    await shop.expectAnswers('lasting', ['10.1.0.42', '10.2.0.41'])
    expect(await seen()).toEqual(before)
    expect(await shop.addressesOf('west', name('kept'))).toEqual(before[0]?.spec?.ips)
  }, 60_000)

  it('go on without the hub, also over a restart, and catch up when it is back', async context => {
    const { kill, start } = deployment
    if (kill === undefined || start === undefined) return context.skip('the parts are one process')
    await shop.exportHeadless('alone')
    await kill('hub')
    await shop.move('east', 'alone', '10.1.0.42')
    await shop.expectAnswers('alone', ['10.1.0.42', '10.2.0.41'], ['east'])
    await kill('east')
    await start('east')
    await shop.move('east', 'alone', '10.1.0.43')
    await shop.expectAnswers('alone', ['10.1.0.43', '10.2.0.41'], ['east'])
    expect(await shop.addressesOf('west', name('alone'))).toEqual(['10.1.0.41', '10.2.0.41'])
    await start('hub')
    await shop.expectAnswers('alone', ['10.1.0.43', '10.2.0.41'])
  }, 90_000)

  it('go on without each other', async context => {
    const { kill, start } = deployment
    if (kill === undefined || start === undefined) return context.skip('the parts are one process')
    await shop.exportHeadless('apart')
    await kill('east')
    await kill('west dns')
    expect(await shop.endpointsOf('west', 'apart')).toEqual(['10.1.0.41', '10.2.0.41'])
    expect(await shop.addressesOf('east', name('apart'))).toEqual(['10.1.0.41', '10.2.0.41'])
    await shop.move('west', 'apart', '10.2.0.42')
    await start('west dns')
    await shop.expectAnswers('apart', ['10.1.0.41', '10.2.0.42'], ['west'])
    await start('east')
    await shop.expectAnswers('apart', ['10.1.0.41', '10.2.0.42'])
  }, 90_000)

  it('import what is exported for them, and know nothing of what is for others', async () => {
    await shop.export('east', 'chosen', { addresses: ['10.1.0.51'] })
    const { uid } = (await eventually(() => shop.readyImport('west', 'chosen'))).metadata
    await allow('east', 'chosen', '')
    await eventually(async () => {
      await expect(shop.importOf('west', 'chosen')).rejects.toMatchObject({ reason: 'NotFound' })
      await expect(shop.addressesOf('west', name('chosen'))).rejects.toMatchObject({ code: 'ENOTFOUND' })
      expect(await shop.endpointsOf('west', 'chosen')).toEqual([])
      const seen = await deployment.client('hub').list(importables, { namespace: 'member-west' }, signal())
      expect(seen.items.filter(({ metadata }) => metadata.name.includes('shop.chosen'))).toEqual([])
    })
    const { spec } = await eventually(() => shop.readyImport('east', 'chosen'))
    await eventually(async () => {
      expect(await shop.addressesOf('east', name('chosen'))).toEqual(spec?.ips)
    })
    await allow('east', 'chosen', 'west, north')
    await eventually(async () => {
      const again = await shop.readyImport('west', 'chosen')
      expect([again.spec?.ips, again.metadata.uid === uid]).toEqual([spec?.ips, false])
      expect(await shop.endpointsOf('west', 'chosen')).toEqual(['10.1.0.51'])
      expect(await shop.conditionsOf('east', 'chosen')).toMatchObject({
        Ready: 'True/Exported',
        'isthmus.dev/Imported': 'False/NotImported',
      })
    })
    await allow('east', 'chosen', 'west')
    await eventually(async () =>
      expect(await shop.conditionsOf('east', 'chosen')).toMatchObject({
        'isthmus.dev/Imported': 'True/Imported',
      }),
    )
  })

  async function allow(member: Member, what: string, consumers: string): Promise<void> {
    const patch = { metadata: { annotations: { 'isthmus.dev/consumers': consumers } } }
    const ref = { namespace: 'shop', name: what }
    await deployment.client(member).mergePatch(serviceExports, ref, patch, { signal: signal() })
  }

  it('forget what is not exported any more', async () => {
    await shop.export('east', 'brief', { addresses: ['10.1.0.1'] })
    await eventually(() => shop.readyImport('west', 'brief'))
    const ref = { namespace: 'shop', name: 'brief' }
    await deployment.client('east').delete(serviceExports, ref, { signal: signal() })
    for (const member of members) {
      await eventually(async () => {
        await expect(shop.importOf(member, 'brief')).rejects.toMatchObject({ reason: 'NotFound' })
        await expect(shop.addressesOf(member, name('brief'))).rejects.toMatchObject({ code: 'ENOTFOUND' })
        expect(await shop.endpointsOf(member, 'brief')).toEqual([])
      })
    }
  })
})
