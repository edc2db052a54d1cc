/**
 * What the stages of the multicluster flow share: export → merge → allocate → import → endpoints. `hub-flow.ts` wires
 * those that run on the hub, `member-flow.ts` those that run in a member.
 */
import type { ClusterSetService, Contributor } from './api/kinds/cluster-set-service.ts'
import type { ExportedEndpointSlice } from './api/kinds/exported-endpoint-slice.ts'
import type { ExportedPort, ExportedServiceFacts } from './api/kinds/exported-service.ts'
import { serviceExportConditions } from './api/kinds/service-export.ts'
import type { Ref } from './cluster/cluster.ts'
import type { Family } from './ip/address.ts'

// ---- members ----------------------------------------------------------------------------------------------------

/** A member as the hub knows it. */
export type Member = {
  /** The cluster id. */
  readonly cluster: string
  /** The namespace on the hub in which it writes. */
  readonly namespace: string
  /** Exports of a member that is not accepted contribute nothing. */
  readonly accepted: boolean
  /** The first time that the hub accepted this cluster id, in milliseconds. */
  readonly acceptedMs: number
  /** The namespaces that it takes part in; absent for all. */
  readonly namespaces: readonly string[] | undefined
  /** The region that it is in, as its MemberCluster is labelled. */
  readonly region: string | undefined
  /** The strongest of its taints. */
  readonly taint: Contributor['taint']
  /**
   * Since when it is not heard, in milliseconds, if its lease has lapsed (KEP-1645, "EndpointSlice"): its exports count, its
   * endpoints are not imported unless they ask for something else.
   */
  readonly silentSinceMs: number | undefined
}

// ---- merge ------------------------------------------------------------------------------------------------------

/** One export that counts. */
export type Contribution = {
  readonly cluster: string
  /** The ServiceExport's creationTimestamp by the member's clock, in milliseconds. */
  readonly createdMs: number
  /** See `Member`: no export counts as older than this. */
  readonly acceptedMs: number
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** Ids of the clusters that may import besides its own; absent for all. */
  readonly consumers: readonly string[] | undefined
  /** ClusterSetIPs that it asks for. */
  readonly addresses: readonly string[]
  /** See `Member`. */
  readonly taint: Contributor['taint']
  /** See `Member`. */
  readonly region: string | undefined
  /** What has become of its endpoints since its cluster is silent. */
  readonly unreachable: 'dropped' | 'draining' | undefined
  readonly service: ExportedServiceFacts
}

/** The reasons of the Conflict condition in the order in which they are joined. */
export const conflictReasons = serviceExportConditions.Conflict.True
export type ConflictReason = (typeof conflictReasons)[number]

/** One thing in which exports disagree, and a sentence that says what is used instead. */
export type Conflict = { readonly reason: ConflictReason; readonly message: string }

/** What the exports of a service come to, apart from its addresses. */
export type Merged = {
  readonly type: 'ClusterSetIP' | 'Headless'
  readonly ports: readonly ExportedPort[]
  /** Never empty unless no export names a family. */
  readonly ipFamilies: readonly Family[]
  readonly sessionAffinity: string | undefined
  readonly sessionAffinityConfig: ExportedServiceFacts['sessionAffinityConfig'] | undefined
  readonly internalTrafficPolicy: string | undefined
  readonly trafficDistribution: string | undefined
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly consumers: readonly string[] | undefined
  /** ClusterSetIPs that are asked for, at most one of each family. */
  readonly addresses: readonly string[]
  /** By cluster id. */
  readonly clusters: readonly Contributor[]
  /** In canonical order. */
  readonly conflicts: readonly Conflict[]
}

// ---- allocate ---------------------------------------------------------------------------------------------------

/** The addresses of one service. */
export type Assigned = {
  /** What may be published: at most one of each wanted family, in the order that was wanted. */
  readonly ips: readonly string[]
  readonly ipFamilies: readonly Family[]
  /** All that the service holds, published or not; written down before any is published. */
  readonly addresses: readonly string[]
  /** Why wanted families are missing. */
  readonly problem: AddressProblem | undefined
}

export type AddressProblem = {
  readonly reason: 'Pending' | 'IPFamilyNotSupported'
  readonly message: string
}

/** Hands out ClusterSetIPs. Owners are names of ClusterSetServices. */
export interface AddressAllocator {
  /**
   * The addresses of an owner: those it holds and, for each wanted family that it holds none of, the one that is asked
   * for and no other, or else a free one. Asking again gives the same ones. An owner that is not given all it wants has
   * its turn when addresses become free.
   */
  assign(owner: string, families: readonly Family[], requested: readonly string[]): Assigned
  holds(owner: string): boolean
  /** Takes back what the owner holds. */
  release(owner: string): void
}

// ---- import -----------------------------------------------------------------------------------------------------

/** A slice that another member exports. */
export type ImportableSlice = {
  /** Of the Importable: told apart among all members. */
  readonly name: string
  /** The cluster id that it comes from, vouched for by the hub. */
  readonly source: string
  readonly metadata: Pick<ExportedEndpointSlice['metadata'], 'annotations'>
  readonly spec: ExportedEndpointSlice['spec']
}

/** What this member may import, as far as the hub has told. */
export interface ImportableIndex {
  /** False until the hub has told everything once: then what is missing is unknown, not absent. */
  hasSynced(): boolean
  service(service: Ref): ClusterSetService | undefined
  slice(name: string): ImportableSlice | undefined
}
