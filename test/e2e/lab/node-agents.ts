// kubelet and kube-proxy of a node.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Addresses, ClusterName } from './addresses.ts'
import { nodeName } from './cluster.ts'
import { runtimeSocket } from './container-runtime.ts'
import { type Daemon, daemon, type Place } from './daemon.ts'
import { nodeGroup } from './groups.ts'
import type { Identities } from './identities.ts'
import type { Programs } from './programs.ts'

export type ProxyMode = 'nftables' | 'iptables'

export type NodeAgentsOptions = {
  readonly lab: string
  readonly folder: string
  readonly name: ClusterName
  readonly place: Place
  readonly programs: Programs
  readonly addresses: Addresses
  readonly identities: Identities
  readonly proxyMode: ProxyMode
  readonly featureGates: Readonly<Record<string, boolean>>
}

export function kubelet(options: NodeAgentsOptions): Daemon {
  const { addresses, folder, lab, name, place, programs } = options
  const settings = join(folder, 'kubelet.json')
  writeFileSync(join(folder, 'resolv.conf'), '')
  writeFileSync(settings, JSON.stringify(kubeletSettings(options), undefined, 2))
  const argv = (): readonly string[] => [
    programs.find('kubelet') ?? 'kubelet',
    `--config=${settings}`,
    `--kubeconfig=${join(folder, 'node.kubeconfig')}`,
    `--hostname-override=${nodeName(name)}`,
    `--node-ip=${addresses.node.join(',')}`,
  ]
  return daemon({ lab, log: join(folder, 'log', 'kubelet.log'), place, argv })
}

function kubeletSettings({
  addresses,
  featureGates,
  folder,
  identities,
  lab,
  name,
}: NodeAgentsOptions): object {
  const { file } = identities
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    featureGates,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: file('ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: file('kubelet.crt'),
    tlsPrivateKeyFile: file('kubelet.key'),
    containerRuntimeEndpoint: `unix://${runtimeSocket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: nodeGroup(lab, name),
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    maxOpenFiles: 20_000,
    maxPods: 60,
    clusterDNS: addresses.dns,
    clusterDomain: 'cluster.local',
    resolvConf: join(folder, 'resolv.conf'),
    makeIPTablesUtilChains: false,
    serializeImagePulls: false,
    nodeStatusUpdateFrequency: '10s',
    syncFrequency: '10s',
    ...neverFull,
  }
}

/** An empty `evictionHard` would mean the defaults, and the disk of a developer is often nearly full. */
const neverFull = {
  evictionHard: Object.fromEntries(
    [
      'memory.available',
      'nodefs.available',
      'nodefs.inodesFree',
      'imagefs.available',
      'imagefs.inodesFree',
    ].map(signal => [signal, '0%']),
  ),
  imageGCHighThresholdPercent: 100,
}

export function kubeProxy(options: NodeAgentsOptions): Daemon {
  const { addresses, featureGates, folder, lab, name, place, programs, proxyMode } = options
  const settings = join(folder, 'kube-proxy.json')
  const content = {
    kind: 'KubeProxyConfiguration',
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    featureGates,
    mode: proxyMode,
    clientConnection: { kubeconfig: join(folder, 'proxy.kubeconfig') },
    clusterCIDR: addresses.pods.join(','),
    hostnameOverride: nodeName(name),
    // These belong to the whole machine: outside its first network namespace they cannot be written.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
  }
  writeFileSync(settings, JSON.stringify(content, undefined, 2))
  const argv = (): readonly string[] => [programs.find('kube-proxy') ?? 'kube-proxy', `--config=${settings}`]
  return daemon({ lab, log: join(folder, 'log', 'kube-proxy.log'), place, argv })
}
