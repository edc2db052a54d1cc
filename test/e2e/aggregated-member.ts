// A member of ours behind the kube-apiserver of a cluster, with the rights that deploy/ gives it and no others.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { listenAt, type RoleProcess, startRole } from '../support/role-process.ts'
import { writeAccountKubeconfig } from './account.ts'
import type { LabCluster } from './lab/cluster.ts'
import { freePort } from './lab/ready.ts'

export type AggregatedMember = {
  /** Where it can be reached without kube-apiserver. */
  readonly url: string
  readonly home: string
  readonly process: RoleProcess
  /** Stops it, or kills it. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** With more flags, if told. */
  start(flags?: readonly string[]): Promise<void>
}

const namespace = 'isthmus-system'
const name = 'isthmus-member'
export const groupVersions = ['v1beta1.multicluster.x-k8s.io', 'v1alpha1.multicluster.x-k8s.io']

/**
 * Resolves when kube-apiserver finds it available. It is an API server alone, or with `more` flags a member with its
 * agent.
 */
export async function startAggregatedMember(
  cluster: LabCluster,
  more: readonly string[] = [],
): Promise<AggregatedMember> {
  const { kubectl } = cluster
  const port = await freePort()
  await kubectl.run(['create', 'namespace', namespace])
  await kubectl.run(['create', 'serviceaccount', name, '-n', namespace])
  await kubectl.run(['apply', '-f', 'deploy/member/rbac.yaml', '-f', 'deploy/users/roles.yaml'])
  // On loopback there are no endpoints: the aggregator follows the name instead.
  await kubectl.run(['create', 'service', 'externalname', name, '-n', namespace, '--external-name=localhost'])
  const kubeconfig = join(cluster.folder, 'member-account', 'kubeconfig')
  await writeAccountKubeconfig(kubeconfig, cluster, { namespace, name })
  const home = join(cluster.folder, 'member')
  const args = [
    more.length === 0 ? 'apiserver' : 'member',
    ...listenAt(home, port),
    ...['--kubeconfig', kubeconfig, ...more],
  ]
  let process = await startRole(args)
  const apiServices = readFileSync('deploy/member/apiservices.yaml', 'utf8')
  await kubectl.run(['apply', '-f', '-'], apiServices.replaceAll('port: 443', `port: ${port}`))
  await untilAvailable(cluster)
  return {
    url: `https://127.0.0.1:${port}`,
    home,
    get process() {
      return process
    },
    stop: async (signal = 'SIGTERM') => {
      if (signal === 'SIGKILL') await process.kill()
      else await process.stop()
    },
    start: async (flags = []) => {
      process = await startRole([...args, ...flags])
    },
  }
}

/** Resolves when kube-apiserver sends requests on to the member. */
export async function untilAvailable({ kubectl }: LabCluster): Promise<void> {
  const services = groupVersions.map(each => `apiservice/${each}`)
  await kubectl.run(['wait', '--for=condition=Available', ...services, '--timeout=60s'])
  // What kube-apiserver has found out its handlers learn a moment later.
  await eventually(() => kubectl.run(['get', 'serviceexports', '-A']))
}
