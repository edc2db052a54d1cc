// Written by `npm run gen` from the files of this folder.
import type { AnyKind } from '../kind.ts'
import { ClusterSetServiceKind } from './cluster-set-service.ts'
import { ExportedEndpointSliceKind } from './exported-endpoint-slice.ts'
import { ExportedServiceKind } from './exported-service.ts'
import { ImportableKind } from './importable.ts'
import { JoinTokenKind } from './join-token.ts'
import { MemberClusterKind } from './member-cluster.ts'
import { MemberJoinKind } from './member-join.ts'
import { ServiceExportKind } from './service-export.ts'
import { ServiceImportKind } from './service-import.ts'

export const kinds: readonly AnyKind[] = [
  ClusterSetServiceKind,
  ExportedEndpointSliceKind,
  ExportedServiceKind,
  ImportableKind,
  JoinTokenKind,
  MemberClusterKind,
  MemberJoinKind,
  ServiceExportKind,
  ServiceImportKind,
]
