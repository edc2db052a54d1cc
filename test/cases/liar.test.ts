// A member that lies: its agent is somebody's own program, with the rights that the hub gives a member. What it may not
// write at all stands in test/unit/apiservice/authz/member-rights.test.ts; here it writes what it may.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memberNamespace } from '../../src/api/cluster-id.ts'
import type { ExportedEndpointSlice } from '../../src/api/kinds/exported-endpoint-slice.ts'
import { type ExportedService, ExportedServiceKind } from '../../src/api/kinds/exported-service.ts'
import { never } from '../../src/kernel/abort.ts'
import { exportedServices, exportedSlices, type MemoryFleet, memoryFleet } from '../support/memory-fleet.ts'
import { exporting } from './acts.ts'
import { exportsSeen, seenBy } from './seen.ts'

let fleet: MemoryFleet

beforeEach(async () => {
  fleet = await memoryFleet({ members: ['c1', 'c3'] })
  for (const act of exporting('c1@10', { spec: { clusterIP: 'None' } })) await act(fleet)
  await fleet.settle()
  await fleet.clock.advance(60_000)
  // It joins, and says what it likes.
  const liar = await fleet.join('c2')
  liar.stop()
  await fleet.settle()
})
afterEach(() => fleet.end())

const namespace = memberNamespace('c2')
const honest: ExportedService['spec'] = {
  namespace: 'shop',
  service: 'web',
  exportedAt: '2026-01-02T03:05:00Z',
  exportGeneration: 1,
  definition: {
    type: 'Headless',
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    ipFamilies: ['IPv4'],
  },
}

function service(spec: Partial<ExportedService['spec']>, name = 'shop.web'): ExportedService {
  const { apiVersion, kind } = exportedServices
  return { apiVersion, kind, metadata: { namespace, name }, spec: { ...honest, ...spec } }
}

function slice(spec: Partial<ExportedEndpointSlice['spec']>): ExportedEndpointSlice {
  const { apiVersion, kind } = exportedSlices
  const whole = {
    namespace: 'shop',
    service: 'web',
    slice: 'web-1',
    addressType: 'IPv4' as const,
    endpoints: [{ addresses: ['10.66.0.1'] }],
    ports: [{ name: 'http', port: 80, protocol: 'TCP' as const }],
  }
  return { apiVersion, kind, metadata: { namespace, name: 'shop.web-1' }, spec: { ...whole, ...spec } }
}

async function says(...objects: readonly (ExportedService | ExportedEndpointSlice)[]): Promise<void> {
  for (const object of objects) {
    if ('service' in object.spec && 'definition' in object.spec)
      await fleet.hub.create(exportedServices, object as ExportedService, never)
    else await fleet.hub.create(exportedSlices, object as ExportedEndpointSlice, never)
  }
  await fleet.settle()
}

const before = { type: 'Headless', ports: 'http:80/TCP', clusters: 'c1', ready: 'True/Ready' }
const ofOne = 'c1 http:8080 10.1.0.1'

describe('a member that lies', () => {
  it('wins no conflict with a time from before it joined', async () => {
    await says(
      service({
        exportedAt: '1970-01-01T00:00:00Z',
        definition: { ...honest.definition, type: 'ClusterSetIP' },
      }),
    )
    const { import: seen } = await seenBy(fleet.member('c3'), 'web', [])
    expect(seen).toMatchObject({ type: 'Headless', clusters: 'c1 c2' })
    // Both are told; the service goes on as it was.
    expect((await exportsSeen(fleet, 'web')).c1).toBe('True/Valid True/Exported True/TypeConflict')
  })

  it('brings no endpoints into a service that it does not export', async () => {
    await says(slice({}))
    expect(await seenBy(fleet.member('c3'), 'web', ['web'])).toMatchObject({
      import: before,
      slices: [ofOne],
      dns: { web: '10.1.0.1' },
    })
  })

  it('speaks for no other cluster: where endpoints come from is what the hub says', async () => {
    await says(service({}), slice({}))
    const { slices } = await seenBy(fleet.member('c3'), 'web', [])
    expect(slices).toEqual([ofOne, 'c2 http:80 10.66.0.1'])
  })

  it.each([
    ['a name that is another service', service({ service: 'other' }), 'metadata.name'],
    [
      'labels that no import can carry',
      service({ exportedLabels: { 'not a key!': 'x' } }),
      'spec.exportedLabels',
    ],
    [
      'keys of the controllers',
      service({ exportedAnnotations: { 'isthmus.dev/exports': '[]' } }),
      'spec.exportedAnnotations',
    ],
    [
      'a megabyte of annotations',
      service({ exportedAnnotations: { a: 'x'.repeat(1_000_000) } }),
      'spec.exportedAnnotations',
    ],
    ['a namespace that is none', service({ namespace: 'a.b' }, 'a.b.web'), 'spec.namespace'],
  ])('is refused %s, and told why', (_, object, field) => {
    const faults = ExportedServiceKind.validate(object, undefined)
    expect(faults.map(fault => fault.field.split('[')[0])).toContain(field)
  })
})
