// Two kube-apiservers with an etcd each: one serves the CRDs of mcs-api, the other has ours and the bare server behind it.
import { startAggregatedMember } from '../../e2e/aggregated-member.ts'
import type { LabCluster } from '../../e2e/lab/cluster.ts'
import { type Lab, startClusters } from '../../e2e/lab/clusters.ts'
import { eventually } from '../../support/eventually.ts'
import type { Address, Call } from './connection.ts'
import {
  bareGroup,
  clientOf,
  grants,
  group,
  namespaces,
  post,
  type Starting,
  serverOf,
  type Target,
  user,
  version,
} from './targets.ts'

/** Clusters whose writes are on the disk before they are answered. */
export function startLab(): Promise<Lab> {
  const etcdFlags = { 'unsafe-no-fsync': undefined }
  return startClusters({ name: 'bench', count: 2, nodes: false, etcdFlags })
}

export async function startKubernetes(
  lab: Lab,
  bare: Target,
  starting: Starting,
): Promise<readonly Target[]> {
  const [crds, front] = lab.clusters
  if (crds === undefined || front === undefined) throw new Error('the lab has too few clusters')
  return [await serveCrds(crds, starting), ...(await serveBehind(front, bare, starting))]
}

async function serveCrds(cluster: LabCluster, { load }: Starting): Promise<Target> {
  await cluster.kubectl.run(['apply', '-f', 'deploy/crds'])
  await cluster.kubectl.run(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s'])
  const address = await prepare(cluster, load)
  return { name: 'crds', server: serverOf(address, group), pids: pidsOf(cluster), besides: [] }
}

function pidsOf(cluster: LabCluster): readonly number[] {
  return (['kube-apiserver', 'etcd'] as const).map(part => cluster.part(part)?.pid() ?? 0)
}

async function serveBehind(
  cluster: LabCluster,
  bare: Target,
  { load, opened }: Starting,
): Promise<readonly Target[]> {
  const member = await startAggregatedMember(cluster)
  opened.push(() => member.stop())
  await cluster.kubectl.run(['apply', '-f', '-'], JSON.stringify(bareService(bare.server.port)))
  const address = await prepare(cluster, load)
  const server = serverOf(address, bareGroup)
  const path = `${server.prefix}/namespaces/x/serviceimports`
  await eventually(() => load.expect(server, [{ method: 'GET', path }], 200))
  const besides = pidsOf(cluster)
  return [
    { name: 'ours aggregated', server: serverOf(address, group), pids: [member.process.pid], besides },
    { name: 'bare aggregated', server, pids: bare.pids, besides },
  ]
}

/** The Service of the member is a name of loopback, where the bare server has another port. */
function bareService(port: number): object {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${version}.${bareGroup}` },
    spec: {
      group: bareGroup,
      version,
      groupPriorityMinimum: 1000,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
      service: { namespace: 'isthmus-system', name: 'isthmus-member', port },
    },
  }
}

/** Nothing else works in the cluster, and the user of the load is held back by nothing but the server. */
async function prepare(cluster: LabCluster, load: Starting['load']): Promise<Address> {
  const authority = cluster.identities.of('ca')
  const admin = cluster.identities.of('admin')
  const address = await clientOf(authority, Number(new URL(cluster.server).port))
  const calls: readonly Call[] = [...grants(), ...namespaces(), unlimited()]
  const server = { ...serverOf(address, group), cert: admin.certificate, key: admin.key }
  await load.expect(server, calls, 201)
  for (const part of ['kube-controller-manager', 'kube-scheduler'] as const) await cluster.part(part)?.stop()
  return address
}

function unlimited(): Call {
  const all = ['*']
  const resourceRules = [{ apiGroups: all, resources: all, verbs: all, namespaces: all, clusterScope: true }]
  return post('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name: 'bench' },
    spec: {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 2,
      rules: [{ subjects: [{ kind: 'User', user: { name: user.user } }], resourceRules }],
    },
  })
}
