// Written by `npm run gen` from the files of this folder.
import type { AnyKind } from '../kind.ts'
import { ClusterSetServiceKind } from './cluster-set-service.ts'
import { ExportedEndpointSliceKind } from './exported-endpoint-slice.ts'
import { ExportedServiceKind } from './exported-service.ts'
import { ImportableKind } from './importable.ts'
import { ServiceExportKind } from './service-export.ts'
import { ServiceImportKind } from './service-import.ts'

export const kinds: readonly AnyKind[] = [
  ClusterSetServiceKind,
  ExportedEndpointSliceKind,
  ExportedServiceKind,
  ImportableKind,
  ServiceExportKind,
  ServiceImportKind,
]
