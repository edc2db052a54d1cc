import { defineKind } from '../kind.ts'
import { serviceColumns } from '../service/columns.ts'
import { defaultService } from '../service/defaults.ts'
import { prepareService } from '../service/prepare.ts'
import { type Service as AnyService, serviceFields, serviceProperties } from '../service/schema.ts'
import { validateService } from '../service/validate.ts'

/** The Service of core/v1. Addresses and node ports are allocated by admission. */
export const ServiceKind = defineKind({
  group: '',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'A name and an address for a set of endpoints.',
  servers: ['standalone'],
  nameRule: 'dns1035Label',
  strategicMergePatch: true,
  unconditionalUpdate: true,
  plainFinalizers: 'refused',
  answersDeleted: true,
  generation: false,
  protobuf: serviceFields,
  properties: serviceProperties,
  status: { withMetadata: true },
  sample: {
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  },
  columns: serviceColumns,
  selectableFields: {
    'spec.clusterIP': o => o.spec?.clusterIP ?? '',
    'spec.type': o => o.spec?.type ?? '',
  },
  default: defaultService,
  prepare: prepareService,
  validate: validateService,
})

export type Service = AnyService
