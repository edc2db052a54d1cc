import { describe, expect, it } from 'vitest'
import { type ExportedService, ExportedServiceKind } from '../../../../../src/api/kinds/exported-service.ts'

const exported = (spec: Partial<ExportedService['spec']> = {}, name = 'shop.web'): ExportedService => ({
  apiVersion: 'hub.isthmus.dev/v1alpha1',
  kind: 'ExportedService',
  metadata: { name, namespace: 'member-east' },
  spec: {
    namespace: 'shop',
    service: 'web',
    exportedAt: '2026-01-02T03:04:05Z',
    exportGeneration: 1,
    definition: { type: 'ClusterSetIP', ports: [], ipFamilies: ['IPv4'] },
    ...spec,
  },
})

const errors = (object: ExportedService): readonly string[] =>
  ExportedServiceKind.validate(object).map(error => `${error.field}: ${error.message.split(':')[0]}`)

describe('ExportedService', () => {
  it('takes a good one', () => {
    expect(
      errors(
        exported({
          exportedLabels: { 'example.com/tier': 'front' },
          exportedAnnotations: { note: 'any text!' },
        }),
      ),
    ).toEqual([])
  })

  it('has the name of the service that it speaks of, so that none can speak of another', () => {
    expect(errors(exported({}, 'bank.vault'))).toEqual(['metadata.name: Invalid value'])
  })

  it.each([
    ['bad key!', '1'],
    ['long', 'x'.repeat(64)],
    ['multicluster.kubernetes.io/service-name', 'x'],
    ['sub.isthmus.dev/x', 'x'],
  ])('refuses the label %s', (key, value) => {
    expect(errors(exported({ exportedLabels: { [key]: value } }))).toEqual([
      `spec.exportedLabels[${key}]: Invalid value`,
    ])
  })

  it.each(['kubectl.kubernetes.io/last-applied-configuration', 'isthmus.dev/exported-keys', 'a/b/c'])(
    'refuses the annotation %s',
    key => {
      expect(errors(exported({ exportedAnnotations: { [key]: 'x' } }))).toEqual([
        `spec.exportedAnnotations[${key}]: Invalid value`,
      ])
    },
  )

  it('refuses more than an import can carry', () => {
    expect(errors(exported({ exportedAnnotations: { big: 'x'.repeat(1_000_000) } }))).toEqual([
      'spec.exportedAnnotations: Too long',
    ])
  })
})
