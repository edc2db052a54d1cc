import { describe, expect, it } from 'vitest'
import { collect } from '../../../../src/export/collect.ts'
import { service, serviceExport } from '../../../support/shop.ts'

const exported = {
  ...serviceExport(),
  metadata: { ...serviceExport().metadata, generation: 2, creationTimestamp: '2026-01-02T03:04:05Z' },
}

describe('collect', () => {
  it('is the export with the parts of its Service that merging needs, and nothing else of it', () => {
    const labelled = {
      ...service('web', {
        trafficDistribution: 'PreferClose',
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
        ports: [
          {
            name: 'http',
            port: 80,
            targetPort: 'web',
            nodePort: 30_000,
            protocol: 'TCP',
            appProtocol: 'http',
          },
          { port: 53, protocol: 'UDP' },
        ],
      }),
    }
    expect(collect(exported, labelled)).toEqual({
      valid: true,
      dropped: [],
      spec: {
        namespace: 'shop',
        service: 'web',
        exportedAt: '2026-01-02T03:04:05Z',
        exportGeneration: 2,
        definition: {
          type: 'ClusterSetIP',
          ports: [
            { name: 'http', port: 80, protocol: 'TCP', appProtocol: 'http' },
            { port: 53, protocol: 'UDP' },
          ],
          ipFamilies: ['IPv4'],
          sessionAffinity: 'ClientIP',
          sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
          internalTrafficPolicy: 'Cluster',
          trafficDistribution: 'PreferClose',
        },
      },
    })
  })

  it('case 10: takes the families of the addresses when the API server has set none', () => {
    const { ipFamilies: _families, ...spec } = service().spec ?? {}
    const plain = { ...service(), spec: { ...spec, clusterIPs: ['fd00::1', '10.96.0.1'] } }
    expect(collect(exported, plain)).toMatchObject({ spec: { definition: { ipFamilies: ['IPv6', 'IPv4'] } } })
  })

  it.each(['NodePort', 'LoadBalancer', 'ClusterIP'])(
    'case 10: exports a Service of type %s as ClusterSetIP',
    type => {
      expect(collect(exported, service('web', { type }))).toMatchObject({
        spec: { definition: { type: 'ClusterSetIP' } },
      })
    },
  )

  it('is nothing without an export, or with one that is going', () => {
    const going = {
      ...exported,
      metadata: { ...exported.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' },
    }
    expect(collect(undefined, service())).toBeUndefined()
    expect(collect(going, service())).toBeUndefined()
  })

  it('takes a Service that is going for gone', () => {
    const going = {
      ...service(),
      metadata: { ...service().metadata, deletionTimestamp: '2026-01-02T03:04:05Z' },
    }
    expect(collect(exported, going)).toMatchObject({ valid: false, reason: 'NoService' })
  })

  it.each([
    ['c3, c2,c3', { consumers: ['c2', 'c3'] }, []],
    ['', { consumers: [] }, []],
    [
      '*,c2,Not An Id',
      { consumers: ['c2'] },
      [
        'metadata.annotations[isthmus.dev/consumers]: "*" is no cluster id: ids with commas between them, or no annotation for all clusters',
      ],
    ],
    [
      Array.from({ length: 1_001 }, (_, i) => `c${i}`).join(),
      { consumers: [] },
      [
        'metadata.annotations[isthmus.dev/consumers]: may not be more than 1000 clusters: none of them may import',
      ],
    ],
  ])(
    'is for the clusters that the annotation names, and lets nobody in by a slip: %.20s',
    (text, spec, dropped) => {
      const annotations = { 'isthmus.dev/consumers': text }
      const chosen = { ...exported, metadata: { ...exported.metadata, annotations } }
      expect(collect(chosen, service())).toMatchObject({ valid: true, spec, dropped })
    },
  )

  it.each([
    ['keep', { whenUnreachable: { action: 'Keep' } }, 0],
    ['drain', { whenUnreachable: { action: 'Drain', afterSeconds: 0 } }, 0],
    ['drain=300s', { whenUnreachable: { action: 'Drain', afterSeconds: 300 } }, 0],
    ['drop', {}, 0],
    ['', {}, 1],
    ['drain=-1s', {}, 1],
  ])('says what becomes of its endpoints when its cluster is silent: %s', (text, spec, problems) => {
    const annotations = { 'isthmus.dev/when-unreachable': text }
    const found = collect({ ...exported, metadata: { ...exported.metadata, annotations } }, service())
    expect(found).toMatchObject({ valid: true, spec })
    expect(found?.valid === true ? found.dropped : []).toHaveLength(problems)
    if (!('whenUnreachable' in spec)) expect(found).not.toHaveProperty('spec.whenUnreachable')
  })

  it('leaves out annotations that together are too much for an import', () => {
    const exportedAnnotations = { big: 'x'.repeat(200_000), small: 'y' }
    const result = collect({ ...exported, spec: { exportedAnnotations } }, service())
    expect(result).toMatchObject({
      valid: true,
      dropped: ['spec.exportedAnnotations: may not be more than 131072 bytes'],
    })
    expect(result).not.toHaveProperty('spec.exportedAnnotations')
  })
})
