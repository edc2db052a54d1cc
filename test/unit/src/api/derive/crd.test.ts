import { describe, expect, it } from 'vitest'
import { customResourceDefinitions } from '../../../../../src/api/derive/crd.ts'
import { kinds } from '../../../../../src/api/kinds/index.ts'
import { GadgetKind } from '../../../../conventions/frame/gadget.ts'

const crds = customResourceDefinitions(kinds)
const crdOf = (kind: string) => crds.find(crd => crd.spec.names.kind === kind)

describe('the CRDs', () => {
  it('are those of mcs-api', () => {
    expect(crds.map(crd => crd.metadata.name)).toEqual([
      'serviceexports.multicluster.x-k8s.io',
      'serviceimports.multicluster.x-k8s.io',
    ])
    for (const crd of crds) {
      expect(crd.metadata.labels).toEqual({
        'multicluster.x-k8s.io/release-version': 'v0.5.2',
        'multicluster.x-k8s.io/crd-schema-revision': '1',
      })
      expect(crd.spec).toMatchObject({ group: 'multicluster.x-k8s.io', scope: 'Namespaced' })
      expect(crd.spec.versions.map(v => [v.name, v.served, v.storage, v.subresources])).toEqual([
        ['v1beta1', true, true, { status: {} }],
        ['v1alpha1', true, false, { status: {} }],
      ])
      expect(crd.spec).not.toHaveProperty('conversion')
    }
  })

  it('name an import as mcs-api does', () => {
    expect(crdOf('ServiceImport')?.spec.names).toEqual({
      kind: 'ServiceImport',
      listKind: 'ServiceImportList',
      plural: 'serviceimports',
      singular: 'serviceimport',
      shortNames: ['svcim', 'svcimport'],
    })
  })

  it('say where the scale is of a kind that has one', () => {
    const kind = { ...GadgetKind, crd: { labels: {} } }
    const subresources = customResourceDefinitions([kind])[0]?.spec.versions.map(v => v.subresources)
    const expected = {
      status: {},
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
    }
    expect(subresources).toEqual([expected, expected])
  })

  it('print what paths can print', () => {
    const columns = crdOf('ServiceImport')?.spec.versions[0]?.additionalPrinterColumns
    expect(columns?.map(c => [c.name, c.jsonPath])).toEqual([
      ['Type', '.spec.type'],
      ['IP', '.spec.ips'],
      ['Ready', ".status.conditions[?(@.type=='Ready')].status"],
      ['Age', '.metadata.creationTimestamp'],
      ['Reason', ".status.conditions[?(@.type=='Ready')].reason"],
    ])
  })

  it('have the schema of mcs-api, and nothing that a CRD cannot have', () => {
    const schema = crdOf('ServiceImport')?.spec.versions[0]?.schema.openAPIV3Schema
    const bare = withoutDescriptions(schema)
    expect(bare).toEqual({
      type: 'object',
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object' },
        spec: {
          type: 'object',
          required: ['ports', 'type'],
          properties: {
            internalTrafficPolicy: { type: 'string' },
            ipFamilies: { type: 'array', items: { type: 'string' }, maxItems: 2 },
            ips: { type: 'array', items: { type: 'string' }, maxItems: 2 },
            ports: {
              type: 'array',
              'x-kubernetes-list-type': 'atomic',
              items: {
                type: 'object',
                required: ['port'],
                properties: {
                  appProtocol: { type: 'string' },
                  name: { type: 'string' },
                  port: { type: 'integer', format: 'int32' },
                  protocol: { type: 'string' },
                },
              },
            },
            sessionAffinity: { type: 'string' },
            sessionAffinityConfig: {
              type: 'object',
              properties: {
                clientIP: {
                  type: 'object',
                  properties: { timeoutSeconds: { type: 'integer', format: 'int32' } },
                },
              },
            },
            trafficDistribution: { type: 'string' },
            type: { type: 'string', enum: ['ClusterSetIP', 'Headless'] },
          },
        },
        status: {
          type: 'object',
          properties: {
            clusters: {
              type: 'array',
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['cluster'],
              items: {
                type: 'object',
                required: ['cluster'],
                properties: { cluster: { type: 'string' } },
              },
            },
            conditions: conditions,
            endpointSliceObjects: { type: 'string', enum: ['Present', 'Absent'] },
          },
        },
      },
    })
  })
})

const conditions = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
    properties: {
      lastTransitionTime: { type: 'string', format: 'date-time' },
      message: { type: 'string', maxLength: 32768 },
      observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
      reason: {
        type: 'string',
        minLength: 1,
        maxLength: 1024,
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      },
      status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
      type: {
        type: 'string',
        maxLength: 316,
        pattern:
          '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
      },
    },
  },
}

function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => name !== 'description' || typeof inner !== 'string')
      .map(([name, inner]) => [name, withoutDescriptions(inner)]),
  )
}
