import type { AnyKind } from '../kind.ts'
import { ClusterSetServiceKind } from './cluster-set-service.ts'
import { ExportedEndpointSliceKind } from './exported-endpoint-slice.ts'
import { ExportedServiceKind } from './exported-service.ts'
import { ImportableKind } from './importable.ts'
import { ServiceExportKind } from './service-export.ts'

export const kinds: readonly AnyKind[] = [
  ClusterSetServiceKind,
  ExportedEndpointSliceKind,
  ExportedServiceKind,
  ImportableKind,
  ServiceExportKind,
]
