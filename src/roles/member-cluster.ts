/** The cluster of a member: one that it keeps by itself, or one with a kube-apiserver. */
import { kinds } from '../api/kinds/index.ts'
import type { Cluster, Resource } from '../cluster/cluster.ts'
import { sideBySide } from '../cluster/side-by-side.ts'
import type { Routing } from '../derive/desired.ts'
import type { Networks } from '../heartbeat/lease.ts'
import type { Family } from '../ip/address.ts'
import { joined, parseCidr } from '../ip/cidr.ts'
import { isReason } from '../kernel/errors.ts'
import { withRetries } from '../kernel/retry.ts'
import { type AggregationOptions, aggregated, connectUnderneath, namesOf } from './aggregated-server.ts'
import type { Context } from './context.ts'
import type { Surround } from './server.ts'
import { type Extension, noExtension, standalone } from './standalone-server.ts'

export type MemberCluster = {
  /** More names that the server is known by. */
  readonly names: readonly string[]
  surround(warners: Extension['warners']): Surround
  /** As the agent sees it, whose own server is `own`. */
  seenBesides(own: Cluster): Cluster
  /** The families that its pods can reach. */
  families(signal: AbortSignal): Promise<readonly Family[]>
  /** The blocks that its Services and pods get addresses from, as far as it can be told. Asked again and again. */
  networks(signal: AbortSignal): Promise<Networks>
  /** How it routes packets to imports; undefined when nothing does. */
  readonly routing: Routing | undefined
  close(): void
}

/** The blocks that its Services and pods get addresses from. */
type Blocks = { readonly serviceCidrs: readonly string[]; readonly podCidrs: readonly string[] }

export function ownCluster({ podCidrs, serviceCidrs }: Blocks): MemberCluster {
  return {
    names: [],
    surround: warners => standalone({ ...noExtension, warners }),
    seenBesides: own => own,
    families: () => Promise.resolve(familiesOf(serviceCidrs)),
    networks: () => Promise.resolve({ services: serviceCidrs, pods: podCidrs }),
    routing: undefined,
    close: () => undefined,
  }
}

/** The blocks are for clusters that do not tell theirs. */
export type RealClusterOptions = Blocks & {
  readonly aggregation: AggregationOptions
  readonly routing: Routing
}

/** Rejects when a kubeconfig cannot be used; a kube-apiserver that is away is none of its business. */
export async function realCluster(options: RealClusterOptions, context: Context): Promise<MemberCluster> {
  const { aggregation, podCidrs, routing, serviceCidrs } = options
  const underneath = await connectUnderneath(aggregation, context)
  const { cluster } = underneath
  const { clock } = context
  return {
    names: namesOf(aggregation.service),
    surround: warners => aggregated(underneath, aggregation, warners),
    // Our own kinds are asked for at the own server: neither the aggregator nor rights in the cluster are needed.
    seenBesides: own => sideBySide({ name: cluster.name, own, groups: ownGroups(), rest: cluster }),
    families: async signal =>
      familiesOf((await withRetries(() => toldCidrs(cluster, signal), clock, signal)) ?? serviceCidrs),
    networks: async signal => ({
      services: (await toldBlocks(cluster, allServiceCidrs, signal)) ?? serviceCidrs,
      pods: podCidrs.length > 0 ? podCidrs : ((await toldBlocks(cluster, nodes, signal)) ?? []),
    }),
    routing,
    close: () => {
      for (const client of Object.values(underneath)) client.close()
    },
  }
}

function ownGroups(): ReadonlySet<string> {
  return new Set(kinds.filter(kind => kind.servers.includes('member')).map(({ group }) => group))
}

type ServiceCidr = { readonly spec?: { readonly cidrs?: readonly string[] } }

const serviceCidrs: Resource<ServiceCidr> = {
  group: 'networking.k8s.io',
  version: 'v1',
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  namespaced: false,
}

/** What kube-apiserver takes addresses of Services from; undefined before Kubernetes 1.33, and when it is not told. */
async function toldCidrs(cluster: Cluster, signal: AbortSignal): Promise<readonly string[] | undefined> {
  try {
    return (await cluster.get(serviceCidrs, { name: 'kubernetes' }, signal)).spec?.cidrs
  } catch (thrown) {
    if (isReason(thrown, 'NotFound', 'Forbidden')) return undefined
    throw thrown
  }
}

type Told = { readonly spec?: { readonly cidrs?: readonly string[]; readonly podCIDRs?: readonly string[] } }

const allServiceCidrs: Resource<Told> = serviceCidrs

const nodes: Resource<Told> = {
  group: '',
  version: 'v1',
  apiVersion: 'v1',
  kind: 'Node',
  plural: 'nodes',
  namespaced: false,
}

/** The blocks of all these objects, as few as they can be joined to; undefined when the cluster does not tell. */
async function toldBlocks(
  cluster: Cluster,
  of: Resource<Told>,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    const { items } = await cluster.list(of, {}, signal)
    const told = items.flatMap(({ spec }) => spec?.cidrs ?? spec?.podCIDRs ?? [])
    return told.length === 0 ? undefined : joined(told)
  } catch (thrown) {
    if (isReason(thrown, 'NotFound', 'Forbidden')) return undefined
    throw thrown
  }
}

function familiesOf(cidrs: readonly string[]): readonly Family[] {
  return cidrs.map(parseCidr).flatMap(cidr => (cidr === undefined ? [] : [cidr.family]))
}
