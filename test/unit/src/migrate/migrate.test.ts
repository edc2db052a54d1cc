import { describe, expect, it } from 'vitest'
import { type ServiceExport, ServiceExportKind } from '../../../../src/api/kinds/service-export.ts'
import { apiServices } from '../../../../src/cluster/api-services.ts'
import { resource } from '../../../../src/cluster/cluster.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { badRequest } from '../../../../src/kernel/errors.ts'
import { migrate } from '../../../../src/migrate/migrate.ts'
import { apiService, memberService, served } from '../../../support/api-services.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const serviceExports = resource(ServiceExportKind)
const automanaged = { 'kube-aggregator.kubernetes.io/automanaged': 'true' }
const anExport = (name: string, labels: Readonly<Record<string, string>> = {}): ServiceExport => ({
  apiVersion: serviceExports.apiVersion,
  kind: serviceExports.kind,
  metadata: { namespace: 'shop', name, labels: { team: 'shop' }, finalizers: ['other.example/finalizer'] },
  spec: { exportedLabels: labels },
})

async function world(refuses = '') {
  const clock = manualClock()
  const cluster = new MemoryCluster({ name: 'cluster', clock })
  const own = new MemoryCluster({
    name: 'own',
    clock,
    intercept: ({ ref, verb }) => {
      if (verb === 'create' && ref?.name === refuses) throw badRequest('no')
    },
  })
  for (const name of served) await cluster.create(apiServices, apiService(name, null, automanaged), never)
  for (const name of ['db', 'web']) await cluster.create(serviceExports, anExport(name), never)
  return {
    cluster,
    own,
    run: async (isDryRun = false) => {
      const lines: string[] = []
      const options = { cluster, own, apiServices: served, service: memberService, isDryRun }
      await migrate({ ...options, report: line => lines.push(line) }, never)
      return lines
    },
    carried: async () => (await own.list(serviceExports, {}, never)).items,
    led: async () =>
      (await cluster.list(apiServices, {}, never)).items.filter(({ spec }) => spec.service !== null).length,
  }
}

describe('migrate', () => {
  it('carries every export over, without what others have put on it, and leads requests to the member', async () => {
    const { carried, cluster, run } = await world()
    expect(await run()).toEqual([
      'ServiceExport shop/db is carried over',
      'ServiceExport shop/web is carried over',
      ...served.map(name => `led ${name} to Service isthmus-system/isthmus-member`),
    ])
    const found = await carried()
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['db', 'web'])
    expect(found[0]).toMatchObject({ metadata: { labels: { team: 'shop' } }, spec: { exportedLabels: {} } })
    expect(found[0]?.metadata).not.toHaveProperty('finalizers')
    for (const { metadata, spec } of (await cluster.list(apiServices, {}, never)).items) {
      expect(spec.service).toEqual({ ...memberService, port: 443 })
      expect(metadata.labels).toEqual({})
    }
    // The definition's own are left to who defined it.
    expect((await cluster.list(serviceExports, {}, never)).items).toHaveLength(2)
    expect(await run()).toEqual([
      `no CustomResourceDefinition serves ${served.join(' or ')}: there is nothing to do`,
    ])
  })

  it('changes nothing when it is only to say what it would do', async () => {
    const { carried, led, run } = await world()
    expect(await run(true)).toContain('ServiceExport shop/web would be carried over')
    expect(await carried()).toEqual([])
    expect(await led()).toBe(0)
  })

  it('goes on where it was interrupted', async () => {
    const { own, run } = await world()
    const { finalizers: _finalizers, ...metadata } = anExport('db').metadata
    await own.create(serviceExports, { ...anExport('db'), metadata }, never)
    expect(await run()).toEqual(
      expect.arrayContaining(['ServiceExport shop/db is there', 'ServiceExport shop/web is carried over']),
    )
  })

  it('overwrites nothing, and leads nothing over when it would lose an export', async () => {
    const { carried, led, own, run } = await world()
    const other = anExport('db', { tier: 'gold' })
    await own.create(serviceExports, other, never)
    await expect(run()).rejects.toThrow(
      'ServiceExport shop/db: there is another one of this name, which differs. Nothing was led over',
    )
    expect(await led()).toBe(0)
    const [db] = await carried()
    expect(db?.spec).toEqual(other.spec)
  })

  it('leads nothing over when the member refuses an export', async () => {
    const { carried, led, run } = await world('db')
    await expect(run()).rejects.toThrow('ServiceExport shop/db: no')
    expect(await led()).toBe(0)
    expect((await carried()).map(({ metadata }) => metadata.name)).toEqual(['web'])
  })

  it('leaves a version alone that leads somewhere already', async () => {
    const { cluster, run } = await world()
    const [name = '', other = ''] = served
    const spec = { service: { namespace: 'other', name: 'server' } }
    await cluster.mergePatch(apiServices, { name }, { spec }, { signal: never })
    expect((await run()).filter(line => line.startsWith('led'))).toEqual([
      `led ${other} to Service isthmus-system/isthmus-member`,
    ])
    expect((await cluster.get(apiServices, { name }, never)).spec.service).toEqual(spec.service)
  })
})
