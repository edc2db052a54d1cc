/** Labels and annotations that the multicluster flow knows. */
export const wellKnown = {
  /** EndpointSlice label: the ServiceImport that the slice backs (KEP-1645). */
  serviceName: 'multicluster.kubernetes.io/service-name',
  /** EndpointSlice label: id of the cluster that the endpoints are in (KEP-1645). */
  sourceCluster: 'multicluster.kubernetes.io/source-cluster',
  /** EndpointSlice label: who writes the slice. */
  managedBy: 'endpointslice.kubernetes.io/managed-by',
  /** EndpointSlice label: the Service of the slice. */
  coreServiceName: 'kubernetes.io/service-name',
  /** Label of Services that an agent made; with `serviceName`, the ServiceImport. */
  serviceManagedBy: 'app.kubernetes.io/managed-by',
  /** Annotation of ServiceExports: the ClusterSetIPs that the service is to have. */
  clusterSetIps: 'isthmus.dev/clusterset-ips',
  /** Annotation of Namespaces and ServiceImports: in what order this cluster uses endpoints of clusters. */
  prefer: 'isthmus.dev/prefer',
  /** Label of imported slices that are not used while nearer ones serve. */
  standby: 'isthmus.dev/standby',
  /** Label of MemberClusters: the region that the cluster is in, as nodes have it. */
  region: 'topology.kubernetes.io/region',
  /** Annotation of ServiceImports: each cluster has a name of its own in DNS. */
  exposePerCluster: 'isthmus.dev/expose-per-cluster',
  /** Annotation of ServiceExports: what becomes of the endpoints elsewhere when their cluster has fallen silent. */
  whenUnreachable: 'isthmus.dev/when-unreachable',
  /** Annotation of ServiceExports: ids of the clusters that may import, by commas. */
  consumers: 'isthmus.dev/consumers',
  /** Annotation of the imports that an agent made: the exported keys that it owns, as JSON. */
  exportedKeys: 'isthmus.dev/exported-keys',
  /** Annotation of the imports that an agent made: what each cluster exports and since when, as JSON. */
  exports: 'isthmus.dev/exports',
  /** Annotation of the imports that an agent made without the hub, which has not told of the service yet. */
  unmerged: 'isthmus.dev/unmerged',
  /**
   * Annotation of what is handed on of exports and endpoints: when the change was first seen that the object was last
   * written for, and on ClusterSetServices by whom.
   */
  changed: 'isthmus.dev/changed',
  /** Annotation of the member's own Service: that the cluster is to leave its ClusterSet, and what came of it. */
  leave: 'isthmus.dev/leave',
} as const

/** The question and the good answer of the annotation `leave`; any other answer says why not. */
export const leaveAsked = 'asked'
export const leaveDone = 'done'

/** The annotations of an object by which its users choose what Isthmus does with it. */
export function optionsIn(
  annotations: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const ours = Object.entries(annotations ?? {}).filter(([key]) => key.startsWith('isthmus.dev/'))
  return Object.fromEntries(ours)
}

/** The value of the managed-by label of imported slices. */
export const sliceManager = 'agent.isthmus.dev'

/** The value of the managed-by label of derived Services. */
export const serviceManager = 'agent.isthmus.dev'
