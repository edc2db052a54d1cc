import { invalidValue } from '../../kernel/field-error.ts'
import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import { s } from '../schema.ts'
import { exportedServiceName, serviceErrors } from './exported-service.ts'

/** Says that a member has the import of a service that is exported to chosen clusters, in the member's namespace. */
export const ImportedServiceKind = defineKind({
  group: 'hub.isthmus.dev',
  versions: [{ name: 'v1alpha1' }],
  storageVersion: 'v1alpha1',
  kind: 'ImportedService',
  plural: 'importedservices',
  scope: 'Namespaced',
  description:
    'A service that a member cluster imports, as its agent reports it: of those that are exported to chosen clusters. Read by the hub only.',
  servers: ['hub'],
  properties: {
    spec: s.object(
      {
        namespace: s.string({ minLength: 1, maxLength: 63, description: 'Namespace of the ServiceImport.' }),
        service: s.string({ minLength: 1, maxLength: 63, description: 'Name of the ServiceImport.' }),
      },
      { description: 'What the member imports. Written by its agent.' },
    ),
  },
  sampleName: 'sample.sample',
  columns: [
    {
      name: 'Service',
      type: 'string',
      description: 'Name of the service.',
      jsonPath: '.spec.service',
      cell: o => o.spec.service,
    },
    ageColumn,
  ],
  validate: ({ metadata, spec }) => {
    const expected = exportedServiceName(spec.namespace, spec.service)
    const name =
      metadata.name === expected ? [] : [invalidValue('metadata.name', metadata.name, `must be ${expected}`)]
    return [...name, ...serviceErrors(spec)]
  },
})
export type ImportedService = ObjectOf<typeof ImportedServiceKind>
