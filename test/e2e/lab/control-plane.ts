// etcd, kube-apiserver, kube-controller-manager and kube-scheduler of one cluster.
import { join } from 'node:path'
import { type Daemon, daemon, type Place } from './daemon.ts'
import { type Flags, toArguments } from './flags.ts'
import { type ClientName, frontProxyName, type Identities } from './identities.ts'
import type { Part, Programs } from './programs.ts'

export type ControlPlaneOptions = {
  readonly lab: string
  readonly folder: string
  readonly programs: Programs
  readonly place: Place
  readonly identities: Identities
  readonly address: string
  readonly port: number
  readonly serviceNetworks: readonly string[]
  readonly featureGates: Readonly<Record<string, boolean>>
  readonly etcdFlags: Flags
  readonly apiServerFlags: Flags
  readonly controllerFlags: Flags
  kubeconfig(client: ClientName): string
}

/** The parts that there are programs of; the first two always. */
export function controlPlane(options: ControlPlaneOptions): ReadonlyMap<Part, Daemon> {
  const flags: readonly (readonly [Part, () => readonly string[]])[] = [
    ['etcd', () => etcdFlags(options)],
    ['kube-apiserver', () => apiServerFlags(options)],
    ['kube-controller-manager', () => controllerFlags(options)],
    ['kube-scheduler', () => schedulerFlags(options)],
  ]
  const parts = new Map<Part, Daemon>()
  for (const [part, argumentsOf] of flags) {
    const program = options.programs.find(part)
    if (program !== undefined) {
      const argv = (): readonly string[] => [program, ...argumentsOf()]
      const log = join(options.folder, 'log', `${part}.log`)
      parts.set(part, daemon({ lab: options.lab, log, place: options.place, argv }))
    } else if (part === 'etcd' || part === 'kube-apiserver') {
      throw new Error(`KUBEBUILDER_ASSETS (${process.env.KUBEBUILDER_ASSETS}) has no program named ${part}`)
    }
  }
  return parts
}

/** On a unix socket: no port to find, and none to share. */
function etcdSocket(options: ControlPlaneOptions): string {
  return `unix://${join(options.folder, 'etcd.sock')}`
}

function etcdFlags(options: ControlPlaneOptions): readonly string[] {
  const peers = `unix://${join(options.folder, 'etcd-peer.sock')}`
  return toArguments(
    {
      'data-dir': join(options.folder, 'etcd'),
      'listen-client-urls': etcdSocket(options),
      'advertise-client-urls': etcdSocket(options),
      'listen-peer-urls': peers,
      'initial-advertise-peer-urls': peers,
      'initial-cluster': `default=${peers}`,
      'log-level': 'warn',
      'unsafe-no-fsync': true,
    },
    options.etcdFlags,
  )
}

function apiServerFlags(options: ControlPlaneOptions): readonly string[] {
  const { file } = options.identities
  return toArguments(
    {
      'etcd-servers': etcdSocket(options),
      'bind-address': options.address,
      'advertise-address': options.address,
      'secure-port': options.port,
      'tls-cert-file': file('apiserver.crt'),
      'tls-private-key-file': file('apiserver.key'),
      'client-ca-file': file('ca.crt'),
      'service-account-key-file': file('service-accounts.key'),
      'service-account-signing-key-file': file('service-accounts.key'),
      'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
      'service-cluster-ip-range': options.serviceNetworks.join(','),
      'authorization-mode': 'Node,RBAC',
      'allow-privileged': true,
      'feature-gates': featureGates(options),
    },
    frontProxyFlags(options.identities),
    {
      'kubelet-client-certificate': file('apiserver-kubelet.crt'),
      'kubelet-client-key': file('apiserver-kubelet.key'),
      'kubelet-certificate-authority': file('ca.crt'),
      'kubelet-preferred-address-types': 'InternalIP',
    },
    options.apiServerFlags,
  )
}

/** What an aggregated API server trusts, published in `extension-apiserver-authentication`. */
function frontProxyFlags({ file }: Identities): Flags {
  return {
    'requestheader-client-ca-file': file('front-proxy-ca.crt'),
    'requestheader-allowed-names': frontProxyName,
    'requestheader-username-headers': 'X-Remote-User',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'proxy-client-cert-file': file('front-proxy.crt'),
    'proxy-client-key-file': file('front-proxy.key'),
  }
}

/** Without its own limits: with them the ServiceAccount of a new namespace takes seconds. */
function controllerFlags(options: ControlPlaneOptions): readonly string[] {
  const { file } = options.identities
  return toArguments(
    delegating(options.kubeconfig('controllers')),
    {
      'service-account-private-key-file': file('service-accounts.key'),
      'root-ca-file': file('ca.crt'),
      'cluster-signing-cert-file': file('ca.crt'),
      'cluster-signing-key-file': file('ca.key'),
      'use-service-account-credentials': true,
      'feature-gates': featureGates(options),
      'kube-api-qps': 300,
      'kube-api-burst': 400,
    },
    options.controllerFlags,
  )
}

function schedulerFlags(options: ControlPlaneOptions): readonly string[] {
  return toArguments(delegating(options.kubeconfig('scheduler')), { 'feature-gates': featureGates(options) })
}

function featureGates({ featureGates: gates }: ControlPlaneOptions): string | undefined {
  const settings = Object.entries(gates).map(([name, isOn]) => `${name}=${isOn}`)
  return settings.length === 0 ? undefined : settings.join(',')
}

function delegating(kubeconfig: string): Flags {
  return {
    kubeconfig,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'leader-elect': false,
    'secure-port': 0,
  }
}
