import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import { s } from '../schema.ts'

/**
 * What one member may import, seen in its own namespace: the services of the ClusterSet and the slices that other
 * members export, at one revision. Not stored: `apiservice/view/importable.ts` computes it.
 */
export const ImportableKind = defineKind({
  group: 'hub.isthmus.dev',
  versions: [{ name: 'v1alpha1' }],
  storageVersion: 'v1alpha1',
  kind: 'Importable',
  plural: 'importables',
  scope: 'Namespaced',
  storage: 'view',
  description:
    'A ClusterSetService or an ExportedEndpointSlice that the member of this namespace may import.',
  servers: ['hub'],
  properties: {
    source: s.optional(
      s.string({ description: 'Id of the cluster that a slice comes from, vouched for by the hub.' }),
    ),
    object: s.anything({ description: 'The ClusterSetService or ExportedEndpointSlice.' }),
  },
  columns: [
    {
      name: 'Source',
      type: 'string',
      description: 'Id of the cluster that a slice comes from.',
      jsonPath: '.source',
      cell: o => o.source ?? '',
    },
    ageColumn,
  ],
})
export type Importable = ObjectOf<typeof ImportableKind>
