// Written by `npm run gen` from the files of this folder.
import type { AnyKind } from '../kind.ts'
import { ClusterSetServiceKind } from './cluster-set-service.ts'
import { ConfigMapKind } from './config-map.ts'
import { EndpointSliceKind } from './endpoint-slice.ts'
import { EventKind } from './event.ts'
import { ExportedEndpointSliceKind } from './exported-endpoint-slice.ts'
import { ExportedServiceKind } from './exported-service.ts'
import { ImportableKind } from './importable.ts'
import { JoinTokenKind } from './join-token.ts'
import { LeaseKind } from './lease.ts'
import { MemberClusterKind } from './member-cluster.ts'
import { MemberJoinKind } from './member-join.ts'
import { NamespaceKind } from './namespace.ts'
import { ServiceExportKind } from './service-export.ts'
import { ServiceImportKind } from './service-import.ts'

export const kinds: readonly AnyKind[] = [
  ClusterSetServiceKind,
  ConfigMapKind,
  EndpointSliceKind,
  EventKind,
  ExportedEndpointSliceKind,
  ExportedServiceKind,
  ImportableKind,
  JoinTokenKind,
  LeaseKind,
  MemberClusterKind,
  MemberJoinKind,
  NamespaceKind,
  ServiceExportKind,
  ServiceImportKind,
]
