// Written by `npm run gen` from the files of this folder.
import type { AnyKind } from '../kind.ts'
import { ClusterRoleKind } from './cluster-role.ts'
import { ClusterRoleBindingKind } from './cluster-role-binding.ts'
import { ClusterSetServiceKind } from './cluster-set-service.ts'
import { ConfigMapKind } from './config-map.ts'
import { EndpointSliceKind } from './endpoint-slice.ts'
import { EventKind } from './event.ts'
import { ExportedEndpointSliceKind } from './exported-endpoint-slice.ts'
import { ExportedServiceKind } from './exported-service.ts'
import { ImportableKind } from './importable.ts'
import { ImportedServiceKind } from './imported-service.ts'
import { JoinTokenKind } from './join-token.ts'
import { LeaseKind } from './lease.ts'
import { MemberClusterKind } from './member-cluster.ts'
import { MemberJoinKind } from './member-join.ts'
import { NamespaceKind } from './namespace.ts'
import { RoleKind } from './role.ts'
import { RoleBindingKind } from './role-binding.ts'
import { SelfSubjectAccessReviewKind } from './self-subject-access-review.ts'
import { SelfSubjectReviewKind } from './self-subject-review.ts'
import { SelfSubjectRulesReviewKind } from './self-subject-rules-review.ts'
import { ServiceKind } from './service.ts'
import { ServiceExportKind } from './service-export.ts'
import { ServiceImportKind } from './service-import.ts'
import { SubjectAccessReviewKind } from './subject-access-review.ts'

export const kinds: readonly AnyKind[] = [
  ClusterRoleKind,
  ClusterRoleBindingKind,
  ClusterSetServiceKind,
  ConfigMapKind,
  EndpointSliceKind,
  EventKind,
  ExportedEndpointSliceKind,
  ExportedServiceKind,
  ImportableKind,
  ImportedServiceKind,
  JoinTokenKind,
  LeaseKind,
  MemberClusterKind,
  MemberJoinKind,
  NamespaceKind,
  RoleKind,
  RoleBindingKind,
  SelfSubjectAccessReviewKind,
  SelfSubjectReviewKind,
  SelfSubjectRulesReviewKind,
  ServiceKind,
  ServiceExportKind,
  ServiceImportKind,
  SubjectAccessReviewKind,
]
