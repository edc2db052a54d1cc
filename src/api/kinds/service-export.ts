import { defineKind, type ObjectOf } from '../kind.ts'
import { s } from '../schema.ts'

export const ServiceExportKind = defineKind({
  group: 'multicluster.x-k8s.io',
  versions: [{ name: 'v1beta1' }, { name: 'v1alpha1' }],
  storageVersion: 'v1beta1',
  kind: 'ServiceExport',
  plural: 'serviceexports',
  shortNames: ['svcex', 'svcexport'],
  scope: 'Namespaced',
  description: 'x',
  servers: ['member'],
  properties: {
    spec: s.optional(s.object({ exportedLabels: s.optional(s.map(s.string())) })),
    status: s.optional(
      s.object({ conditions: s.optional(s.mapList(s.object({ type: s.string() }), ['type'])) }),
    ),
  },
  status: {},
  columns: [{ name: 'X', type: 'string', description: 'x', cell: o => o.spec?.exportedLabels?.a ?? '' }],
  selectableFields: { 'spec.x': o => o.spec?.exportedLabels?.x ?? '' },
})
export type ServiceExport = ObjectOf<typeof ServiceExportKind>
