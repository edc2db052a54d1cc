import { describe, expect, it } from 'vitest'
import { exportsOf } from '../../../../src/api/exports-annotation.ts'
import type { ClusterSetService } from '../../../../src/api/kinds/cluster-set-service.ts'
import type { ServiceImport } from '../../../../src/api/kinds/service-import.ts'
import { desiredImport, desiredStatus, exportedMapsOf, isOurs } from '../../../../src/import/desired.ts'
import type { Family } from '../../../../src/ip/address.ts'

const both: readonly Family[] = ['IPv4', 'IPv6']
const time = '2026-01-02T03:04:05Z'

function clusterSetService(
  spec: Partial<ClusterSetService['spec']> = {},
  status: Partial<ClusterSetService['status']> = {},
): ClusterSetService {
  return {
    apiVersion: 'hub.isthmus.dev/v1alpha1',
    kind: 'ClusterSetService',
    metadata: { name: 'shop.web' },
    spec: {
      namespace: 'shop',
      service: 'web',
      type: 'ClusterSetIP',
      ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
      ips: ['10.7.0.1', 'fd07::1'],
      ipFamilies: both,
      ...spec,
    },
    status: { clusters: [{ cluster: 'east', ports: [] }], addresses: ['10.7.0.1', 'fd07::1'], ...status },
  }
}

const readyOf = (service: ClusterSetService, families: readonly Family[], clash?: string): string => {
  const current = desiredImport(service, families, undefined)
  const [ready] =
    desiredStatus(service, { families, taken: undefined, clash, note: undefined }, current, time)
      .conditions ?? []
  return [ready?.status, ready?.reason, ready?.message].join(' ').trim()
}

describe('desiredImport', () => {
  it('is a whole import, with nothing that the service has not', () => {
    expect(desiredImport(clusterSetService(), both, undefined)).toEqual({
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceImport',
      metadata: { namespace: 'shop', name: 'web', annotations: { 'isthmus.dev/exported-keys': '{}' } },
      spec: {
        type: 'ClusterSetIP',
        ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
        ips: ['10.7.0.1', 'fd07::1'],
        ipFamilies: ['IPv4', 'IPv6'],
      },
    })
  })

  it('carries the traffic fields as they are', () => {
    const fields = {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      internalTrafficPolicy: 'Local',
      trafficDistribution: 'PreferClose',
    }
    expect(desiredImport(clusterSetService(fields), both, undefined).spec).toMatchObject(fields)
  })

  it('keeps what others have put on the import, and takes back only what was exported', () => {
    const first = desiredImport(
      clusterSetService({ labels: { a: '1', b: '1' }, annotations: { x: '1' } }),
      both,
      undefined,
    )
    const touched: ServiceImport = {
      ...first,
      metadata: {
        ...first.metadata,
        uid: 'u',
        labels: { ...first.metadata.labels, a: 'edited', mine: '1' },
        annotations: { ...first.metadata.annotations, note: 'mine' },
        finalizers: ['example.com/keep'],
      },
    }
    expect(desiredImport(clusterSetService({ labels: { a: '1' } }), both, touched).metadata).toEqual({
      namespace: 'shop',
      name: 'web',
      uid: 'u',
      finalizers: ['example.com/keep'],
      labels: { a: '1', mine: '1' },
      annotations: { note: 'mine', 'isthmus.dev/exported-keys': '{"labels":["a"]}' },
    })
  })

  it.each(['', 'null', '[', '{"labels":7}', '{"labels":[7]}'])(
    'lives with the record %j that somebody spoiled',
    text => {
      const first = desiredImport(clusterSetService({ labels: { a: '1' } }), both, undefined)
      const annotations = { 'isthmus.dev/exported-keys': text }
      const spoiled = { ...first, metadata: { ...first.metadata, annotations } }
      expect(desiredImport(clusterSetService({ labels: { a: '1' } }), both, spoiled)).toEqual(first)
    },
  )

  it('tells what each cluster exports, and no more when the hub does not', () => {
    const told = { cluster: 'east', ports: [], definition: { type: 'Headless' as const, ipFamilies: [] } }
    const first = desiredImport(clusterSetService({}, { clusters: [told] }), both, undefined)
    expect(exportsOf(first.metadata)).toEqual([told])
    expect(exportsOf(desiredImport(clusterSetService(), both, first).metadata)).toBeUndefined()
  })

  it('tells exported labels and annotations from those of others', () => {
    const service = clusterSetService({ labels: { a: '1' }, annotations: { x: '1' } })
    const { metadata, ...rest } = desiredImport(service, both, undefined)
    const touched = {
      ...rest,
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, mine: '1' },
        annotations: { ...metadata.annotations, note: 'mine' },
      },
    }
    expect(exportedMapsOf(touched)).toEqual({ labels: { a: '1' }, annotations: { x: '1' } })
    expect(exportedMapsOf({ ...rest, metadata: { name: 'web', labels: { mine: '1' } } })).toEqual({
      labels: {},
      annotations: {},
    })
  })

  it('knows what an agent made', () => {
    const made = desiredImport(clusterSetService(), both, undefined)
    expect(isOurs(made)).toBe(true)
    expect(isOurs({ ...made, metadata: { name: 'web' } })).toBe(false)
  })
})

describe('the condition Ready of an import', () => {
  it.each([
    ['True Ready', clusterSetService(), both],
    ['True Ready', clusterSetService({ type: 'Headless', ips: [] }), ['IPv4'] as const],
    [
      'False IPFamilyNotSupported this cluster supports IPv4, the service IPv6',
      clusterSetService({ ipFamilies: ['IPv6'], ips: ['fd07::1'] }),
      ['IPv4'] as const,
    ],
    [
      'False IPFamilyNotSupported this cluster supports IPv4, the service IPv6',
      clusterSetService({ type: 'Headless', ipFamilies: ['IPv6'], ips: [] }),
      ['IPv4'] as const,
    ],
    ['False Pending no ClusterSetIP yet', clusterSetService({ ips: [] }), both],
    [
      'False Pending exhausted',
      clusterSetService({ ips: [] }, { problem: { reason: 'Pending', message: 'exhausted' } }),
      both,
    ],
    [
      'True Ready no IPv6 for now',
      clusterSetService(
        { ips: ['10.7.0.1'], ipFamilies: ['IPv4'] },
        { problem: { reason: 'Pending', message: 'no IPv6 for now' } },
      ),
      both,
    ],
  ])('is %s', (expected, service, families) => {
    expect(readyOf(service, families)).toBe(expected)
  })

  it('says what its addresses clash with', () => {
    expect(readyOf(clusterSetService(), both, '10.7.0.1 is somewhere else too')).toBe(
      'True Ready 10.7.0.1 is somewhere else too',
    )
  })

  it('says so with the clusters and that there are slices', () => {
    const service = clusterSetService()
    const current = { ...desiredImport(service, both, undefined), metadata: { name: 'web', generation: 4 } }
    expect(
      desiredStatus(
        service,
        { families: both, taken: undefined, clash: undefined, note: undefined },
        current,
        time,
      ),
    ).toEqual({
      clusters: [{ cluster: 'east' }],
      endpointSliceObjects: 'Present',
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Ready',
          message: '',
          observedGeneration: 4,
          lastTransitionTime: time,
        },
      ],
    })
  })
})

it('an import that works says what its annotations say that cannot be read', () => {
  const current = desiredImport(clusterSetService(), both, undefined)
  const here = { families: both, taken: undefined, clash: undefined, note: 'nobody reads this' }
  expect(desiredStatus(clusterSetService(), here, current, time).conditions).toMatchObject([
    { type: 'Ready', status: 'True', message: 'nobody reads this' },
  ])
})
