import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ServiceExport } from '../../../src/api/kinds/service-export.ts'
import { wellKnown } from '../../../src/api/well-known.ts'
import { never } from '../../../src/kernel/abort.ts'
import { toTime } from '../../../src/kernel/clock.ts'
import {
  type MemoryFleet,
  type MemoryMember,
  memoryFleet,
  serviceExports,
  serviceImports,
  services,
} from '../../support/memory-fleet.ts'
import { exportWeb, headless, service, serviceExport } from '../../support/shop.ts'

let fleet: MemoryFleet
let c1: MemoryMember
let c2: MemoryMember

beforeEach(async () => {
  fleet = await memoryFleet()
  c1 = fleet.member('c1')
  c2 = fleet.member('c2')
})

afterEach(() => fleet.end())

/** As admission hands it over. */
function created(spec?: ServiceExport['spec']): ServiceExport {
  const object = serviceExport('web', spec)
  return { ...object, metadata: { ...object.metadata, creationTimestamp: toTime(fleet.clock.now()) } }
}

/** Exported in c1, and ten seconds later a Service in c2 that differs. */
async function differing(): Promise<void> {
  await exportWeb(c1, { exported: { exportedLabels: { team: 'shop' } } })
  await fleet.settle()
  await fleet.clock.advance(10_000)
  await c2.apply(services, service('web', { ...headless, sessionAffinity: 'ClientIP' }))
  await fleet.settle()
}

const fields = (sentences: readonly string[] | undefined) =>
  sentences?.map(text => text.slice(0, text.indexOf(':')))

describe('warnings of a new export', () => {
  it('name what wins over it', async () => {
    await differing()
    const counted = '2026-01-02T03:04:05Z'
    const wins = `the older export wins, and that of cluster c1 counts since ${counted}`
    expect(c2.warnings?.ofExport(created({ exportedLabels: { team: 'shop' } }), undefined)).toEqual([
      `type: ClusterSetIP of cluster c1 is used, not Headless of this cluster: ${wins}`,
      `sessionAffinity: None of cluster c1 is used, not ClientIP of this cluster: ${wins}`,
    ])
    expect(fields(c2.warnings?.ofExport(created(), undefined))).toEqual([
      'type',
      'sessionAffinity',
      'exportedLabels',
    ])
  })

  it('are those of the condition that the hub then sets', async () => {
    await differing()
    const warned = fields(c2.warnings?.ofExport(created(), undefined))
    await c2.apply(serviceExports, serviceExport('web'))
    await fleet.settle()
    expect(await c2.conditionsOf('web')).toMatchObject({
      Conflict: 'True/TypeConflict,SessionAffinityConflict,LabelsConflict',
    })
    expect(warned).toEqual(['type', 'sessionAffinity', 'exportedLabels'])
  })

  it('name an annotation that cannot be read, once', () => {
    const annotated = (text: string): ServiceExport => {
      const object = created()
      return { ...object, metadata: { ...object.metadata, annotations: { [wellKnown.consumers]: text } } }
    }
    expect(fields(c1.warnings?.ofExport(annotated('all'), undefined))).toEqual([])
    const before = annotated('*')
    expect(fields(c1.warnings?.ofExport(before, undefined))).toEqual([
      'metadata.annotations[isthmus.dev/consumers]',
    ])
    expect(c1.warnings?.ofExport(annotated('*,c2'), before)).toEqual([])
  })

  it('do not come without a Service, without other exports, or of an export that is going', async () => {
    expect(c1.warnings?.ofExport(created(), undefined)).toEqual([])
    await exportWeb(c1)
    await fleet.settle()
    expect(c2.warnings?.ofExport(created(), undefined)).toEqual([])
    await differing()
    const going = created()
    const metadata = { ...going.metadata, deletionTimestamp: toTime(fleet.clock.now()) }
    expect(c2.warnings?.ofExport({ ...going, metadata }, going)).toEqual([])
  })

  it('do not come of an import whose annotation somebody has spoiled', async () => {
    await differing()
    c2.stop()
    const there = await c2.local.get(serviceImports, { namespace: 'shop', name: 'web' }, never)
    const annotations = { ...there.metadata.annotations, [wellKnown.exports]: '[{}]' }
    await c2.local.replace(
      serviceImports,
      { ...there, metadata: { ...there.metadata, annotations } },
      {},
      never,
    )
    c2.hub.cut()
    c2.start()
    await fleet.settle()
    expect(c2.warnings?.ofExport(created(), undefined)).toEqual([])
  })

  it('need no hub, also after a restart', async () => {
    await differing()
    c2.stop()
    c2.hub.cut()
    c2.start()
    await fleet.settle()
    expect(fields(c2.warnings?.ofExport(created(), undefined))).toEqual([
      'type',
      'sessionAffinity',
      'exportedLabels',
    ])
  })
})

describe('warnings of a change', () => {
  async function exportedByBoth(): Promise<ServiceExport> {
    await exportWeb(c1)
    await fleet.settle()
    await fleet.clock.advance(10_000)
    await exportWeb(c2)
    await fleet.settle()
    return c2.local.get(serviceExports, { namespace: 'shop', name: 'web' }, never)
  }

  it('come of the Service of an export, and of no other Service', async () => {
    await exportedByBoth()
    const before = service('web')
    const after = service('web', { trafficDistribution: 'PreferClose' })
    expect(fields(c2.warnings?.ofService(after, before))).toEqual(['trafficDistribution'])
    expect(fields(c1.warnings?.ofService(after, before))).toEqual(['trafficDistribution'])
    expect(c2.warnings?.ofService(before, before)).toEqual([])
    expect(c1.warnings?.ofService(after, after)).toEqual([])
    expect(c2.warnings?.ofService(service('other'), undefined)).toEqual([])
  })

  it('leave out what this cluster exported so far', async () => {
    const before = await exportedByBoth()
    await c2.apply(services, service('web', { ports: [{ name: 'http', protocol: 'TCP', port: 81 }] }))
    await fleet.settle()
    const changed = { ...before, spec: { exportedLabels: { a: '1' } } }
    expect(fields(c2.warnings?.ofExport(changed, before))).toEqual(['ports', 'exportedLabels'])
    const now = service('web', { ports: [{ name: 'http', protocol: 'TCP', port: 81 }] })
    expect(c2.warnings?.ofService(service('web'), now)).toEqual([])
  })

  it('do not come again of a write that changes nothing of what is exported', async () => {
    await differing()
    await c2.apply(serviceExports, serviceExport('web'))
    await fleet.settle()
    const before = await c2.local.get(serviceExports, { namespace: 'shop', name: 'web' }, never)
    const labels = { unrelated: '1' }
    const labelled = { ...before, metadata: { ...before.metadata, labels, generation: 7 } }
    expect(c2.warnings?.ofExport(labelled, before)).toEqual([])
    const now = await c2.local.get(services, { namespace: 'shop', name: 'web' }, never)
    const selecting = { ...now, spec: { ...now.spec, selector: { app: 'other' } } }
    expect(c2.warnings?.ofService(selecting, now)).toEqual([])
    const changed = { ...now, spec: { ...now.spec, trafficDistribution: 'PreferClose' } }
    expect(fields(c2.warnings?.ofService(changed, now))).toContain('type')
  })

  it('are true of labels and annotations at each step of a roll-out', async () => {
    const maps = (v: string) => ({ exportedLabels: { v }, exportedAnnotations: { v } })
    await exportWeb(c1, { exported: maps('1') })
    await fleet.settle()
    await fleet.clock.advance(10_000)
    await exportWeb(c2, { exported: maps('2') })
    await fleet.settle()
    const before = await c1.local.get(serviceExports, { namespace: 'shop', name: 'web' }, never)
    expect(c1.warnings?.ofExport({ ...before, spec: maps('2') }, before)).toEqual([])
    expect(c1.warnings?.ofExport({ ...before, spec: maps('3') }, before)).toEqual([])
    const younger = await c2.local.get(serviceExports, { namespace: 'shop', name: 'web' }, never)
    expect(c2.warnings?.ofExport({ ...younger, spec: maps('1') }, younger)).toEqual([])
    const wins = 'the older export wins, and that of cluster c1 counts since 2026-01-02T03:04:05Z'
    expect(c2.warnings?.ofExport({ ...younger, spec: maps('3') }, younger)).toEqual(
      ['exportedAnnotations', 'exportedLabels'].map(
        field => `${field}: {"v":"1"} of cluster c1 is used, not {"v":"3"} of this cluster: ${wins}`,
      ),
    )
  })

  it('count an export no older than the hub does', async () => {
    await exportedByBoth()
    const { metadata, ...rest } = created({ exportedLabels: { a: '1' } })
    const dated = { ...rest, metadata: { ...metadata, creationTimestamp: '2020-01-02T03:04:05Z' } }
    expect(fields(c2.warnings?.ofExport(dated, { ...dated, spec: {} }))).toEqual(['exportedLabels'])
  })

  it('count an export that is made again as the youngest', async () => {
    await exportedByBoth()
    await fleet.clock.advance(10_000)
    const after = created({ exportedLabels: { a: '1' } })
    expect(c1.warnings?.ofExport(after, undefined)).toEqual([
      'exportedLabels: {} of cluster c2 is used, not {"a":"1"} of this cluster: the older export wins, and that of cluster c2 counts since 2026-01-02T03:04:15Z',
    ])
  })
})
