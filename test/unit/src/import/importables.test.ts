import { describe, expect, it } from 'vitest'
import { type Importable, ImportableKind } from '../../../../src/api/kinds/importable.ts'
import { resource } from '../../../../src/cluster/cluster.ts'
import { startInformer } from '../../../../src/cluster/informer.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { Importables } from '../../../../src/import/importables.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const importables = resource(ImportableKind)
const web = { namespace: 'shop', name: 'web' }

const importable = (name: string, kind: string, spec: object, source?: string): Importable => ({
  apiVersion: 'hub.isthmus.dev/v1alpha1',
  kind: 'Importable',
  metadata: { name, namespace: 'member-west' },
  ...(source === undefined ? {} : { source }),
  object: {
    apiVersion: 'hub.isthmus.dev/v1alpha1',
    kind,
    metadata: { name },
    spec: { namespace: 'shop', service: 'web', ...spec },
  },
})
const service = importable('shop.web', 'ClusterSetService', { type: 'Headless' })
const slice = (name: string) =>
  importable(`member-east.${name}`, 'ExportedEndpointSlice', { slice: name }, 'east')

async function setUp(...there: readonly Importable[]) {
  const clock = manualClock()
  const hub = new MemoryCluster({ name: 'hub', clock })
  for (const object of there) await hub.create(importables, object, never)
  const stop = new AbortController()
  const informer = startInformer(hub, importables, { clock, log: silentLogger }, stop.signal)
  const index = new Importables(informer)
  const told: string[] = []
  const state = (change: { readonly before: unknown; readonly after: unknown }): string =>
    `${change.before === undefined ? '-' : '+'}${change.after === undefined ? '-' : '+'}`
  await informer.synced
  index.onChange({
    onService: (ref, change) => told.push(`${ref.namespace}/${ref.name} ${state(change)}`),
    onSlice: change => told.push(`${(change.after ?? change.before)?.name} ${state(change)}`),
  })
  const settle = async (): Promise<readonly string[]> => {
    await settled()
    return told.splice(0)
  }
  return { hub, index, settle, stop: () => stop.abort() }
}

describe('Importables', () => {
  it('finds services, and slices by their names, and tells at once of those that are there', async () => {
    const { index, settle, stop } = await setUp(service, slice('web-a'))
    expect(await settle()).toEqual(['member-east.web-a -+', 'shop/web -+'])
    expect(index.service(web)).toMatchObject({ kind: 'ClusterSetService', spec: { type: 'Headless' } })
    expect(index.slice('member-east.web-a')).toMatchObject({ source: 'east', spec: { slice: 'web-a' } })
    expect(index.servicesIn('shop')).toEqual([web])
    expect(index.slice('shop.web')).toBeUndefined()
    stop()
  })

  it('follows changes and forgets what goes', async () => {
    const { hub, index, settle, stop } = await setUp(service)
    await settle()
    const created = await hub.create(importables, slice('web-a'), never)
    await hub.replace(importables, { ...created, source: 'north' }, {}, never)
    expect(await settle()).toEqual(['member-east.web-a -+', 'member-east.web-a ++'])
    expect(index.slice('member-east.web-a')).toMatchObject({ source: 'north' })
    await hub.deleteCollection(importables, {}, never)
    expect((await settle()).toSorted()).toEqual(['member-east.web-a +-', 'shop/web +-'])
    expect(index.service(web)).toBeUndefined()
    expect(index.slice('member-east.web-a')).toBeUndefined()
    expect(index.servicesIn('shop')).toEqual([])
    stop()
  })

  it('passes over what a newer hub may show', async () => {
    const { index, settle, stop } = await setUp(importable('x', 'SomethingNew', {}))
    expect(await settle()).toEqual([])
    expect(index.hasSynced()).toBe(true)
    stop()
  })
})
