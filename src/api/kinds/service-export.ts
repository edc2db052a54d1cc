import { conditionColumn, messageColumn, reasonColumn } from '../condition-column.ts'
import { conditionsSchema } from '../condition-schema.ts'
import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import { s } from '../schema.ts'

/** KEP-1645, "Service Exports" and "Conflict Resolution": several reasons of Conflict are joined by commas, in this order. */
export const serviceExportConditions = {
  Valid: { True: ['Valid'], False: ['NoService', 'InvalidServiceType'] },
  Ready: { True: ['Exported'], False: ['Pending', 'Failed'] },
  Conflict: {
    True: [
      'PortConflict',
      'IPFamilyConflict',
      'TypeConflict',
      'SessionAffinityConflict',
      'SessionAffinityConfigConflict',
      'AnnotationsConflict',
      'LabelsConflict',
      'InternalTrafficPolicyConflict',
      'TrafficDistributionConflict',
    ],
    False: ['NoConflicts'],
  },
  'isthmus.dev/Imported': { True: ['Imported'], False: ['NotImported'] },
} as const

/** KEP-1645, the types of mcs-api. */
export const ServiceExportKind = defineKind({
  group: 'multicluster.x-k8s.io',
  versions: [{ name: 'v1beta1' }, { name: 'v1alpha1' }],
  storageVersion: 'v1beta1',
  kind: 'ServiceExport',
  plural: 'serviceexports',
  shortNames: ['svcex', 'svcexport'],
  scope: 'Namespaced',
  description:
    'Says that the Service of the same name and namespace is to be reachable from all clusters of the ClusterSet.',
  servers: ['member'],
  properties: {
    spec: s.optional(
      s.object(
        {
          exportedAnnotations: s.optional(
            s.map(s.string(), {
              description: 'Annotations that the ServiceImport shall carry in every cluster.',
            }),
          ),
          exportedLabels: s.optional(
            s.map(s.string(), {
              description: 'Labels that the ServiceImport shall carry in every cluster.',
            }),
          ),
        },
        { description: 'How the Service is exported. May be left out.' },
      ),
    ),
    status: s.optional(
      s.object(
        {
          conditions: conditionsSchema(
            'Valid: the Service exists and its type can be exported. Ready: other clusters were told. Conflict: exports of other clusters disagree, and the oldest wins. isthmus.dev/Imported: the clusters that the export is for have imported it.',
          ),
        },
        { description: 'How the export is doing. Written by the controller.' },
      ),
    ),
  },
  status: {},
  conditions: serviceExportConditions,
  crd: {
    labels: {
      'multicluster.x-k8s.io/release-version': 'v0.5.2',
      'multicluster.x-k8s.io/crd-schema-revision': '1',
    },
  },
  aggregate: 'edit',
  sample: { spec: { exportedLabels: { team: 'shop' } } },
  columns: [
    conditionColumn('Valid', 'Whether the Service exists and can be exported.'),
    conditionColumn('Ready', 'Whether other clusters were told of the export.'),
    conditionColumn('Conflict', 'Whether exports of other clusters disagree with this one.'),
    ageColumn,
    reasonColumn('Valid', 'Valid Reason'),
    reasonColumn('Ready', 'Ready Reason'),
    reasonColumn('Conflict', 'Conflict Reason'),
    messageColumn('Valid', 'Ready', 'Conflict'),
  ],
})

export type ServiceExport = ObjectOf<typeof ServiceExportKind>
