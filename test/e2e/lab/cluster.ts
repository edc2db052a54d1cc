// One cluster of a lab: its control plane, and how tests talk to it.
import { join } from 'node:path'
import { writeKubeconfig } from '../../../src/roles/kubeconfig-file.ts'
import { Kubectl } from '../../support/kubectl.ts'
import {
  type Addresses,
  addressesIn,
  addressesOf,
  type ClusterName,
  type Families,
  inUrl,
} from './addresses.ts'
import { controlPlane } from './control-plane.ts'
import { type Daemon, here, type Place } from './daemon.ts'
import type { Flags } from './flags.ts'
import { type ClientName, type Identities, makeIdentities } from './identities.ts'
import type { Part, Programs } from './programs.ts'
import { freePort, untilReady } from './ready.ts'

export type LabCluster = {
  readonly name: ClusterName
  readonly folder: string
  /** The API server's URL for processes of this machine. */
  readonly server: string
  /** Of the administrator, for processes of this machine. */
  readonly kubeconfig: string
  readonly kubectl: Kubectl
  readonly identities: Identities
  readonly addresses: Addresses
  /** For processes beside the control plane: there its addresses, Services and pods can be reached. */
  readonly place: Place
  /** To stop one and to start it again. Undefined when `KUBEBUILDER_ASSETS` has none. */
  part(name: Part): Daemon | undefined
  /** Waits until the API server is ready, such as after a start. */
  ready(): Promise<void>
}

export type ClusterOptions = {
  readonly lab: string
  readonly name: ClusterName
  readonly families: Families
  readonly programs: Programs
  readonly featureGates: Readonly<Record<string, boolean>>
  readonly etcdFlags: Flags
  readonly apiServerFlags: Flags
  readonly controllerFlags: Flags
}

/** Where a control plane runs and listens. */
export type Site = {
  readonly place: Place
  readonly address: string
  readonly port: number
  /** Its URL for processes of this machine, when that is another than its own. */
  readonly forwarded?: string
}

const readyMs = 120_000
const attempts = 3

/** A control plane on loopback, which needs no privileges. */
export async function startOnLoopback(options: ClusterOptions): Promise<LabCluster> {
  // EndpointSlices refuse loopback addresses: without a reconciler, nothing tries to write one.
  const apiServerFlags = { 'endpoint-reconciler-type': 'none', ...options.apiServerFlags }
  for (let attempt = 1; ; attempt += 1) {
    const site = { place: here, address: '127.0.0.1', port: await freePort() }
    const cluster = await assembleCluster({ ...options, apiServerFlags }, site)
    try {
      await startParts(cluster)
      return cluster
    } catch (thrown) {
      // Another process may take the port after it was found free.
      if (attempt === attempts || !String(thrown).includes('address already in use')) throw thrown
      for (const part of controlPlaneParts) await cluster.part(part)?.stop('SIGKILL')
    }
  }
}

/** Writes the files of a cluster; nothing runs yet. */
export async function assembleCluster(options: ClusterOptions, site: Site): Promise<LabCluster> {
  const { name, programs } = options
  const folder = join(options.lab, name)
  const addresses = addressesIn(options.families, addressesOf(name))
  const identities = await makeIdentities(join(folder, 'pki'), {
    apiServer: ['localhost', '127.0.0.1', ...addresses.node, ...addresses.kubernetes, ...serviceNames],
    node: [nodeName(name), ...addresses.node],
  })
  const inside = `https://${inUrl(site.address)}:${site.port}`
  const server = site.forwarded ?? inside
  const ofClient = (client: ClientName): string => join(folder, `${client}.kubeconfig`)
  const write = (path: string, url: string, client: ClientName): Promise<void> =>
    writeKubeconfig(path, [
      { name, server: url, ca: identities.of('ca').certificate, user: identities.of(client) },
    ])
  for (const client of ['controllers', 'scheduler', 'node', 'proxy'] as const) {
    await write(ofClient(client), inside, client)
  }
  const kubeconfig = join(folder, 'kubeconfig')
  await write(kubeconfig, server, 'admin')
  const parts = controlPlane({
    ...options,
    ...site,
    folder,
    identities,
    serviceNetworks: addresses.services,
    kubeconfig: ofClient,
  })
  const binary = { name: 'kubectl', path: programs.find('kubectl') ?? 'kubectl' }
  return {
    name,
    folder,
    server,
    kubeconfig,
    kubectl: new Kubectl({ binary, kubeconfig, context: name, cacheDir: join(folder, 'kubectl-cache') }),
    identities,
    addresses,
    place: site.place,
    part: part => parts.get(part),
    ready: () =>
      untilReady({
        server,
        ca: identities.of('ca').certificate,
        user: identities.of('admin'),
        parts: parts.values(),
        deadlineMs: readyMs,
      }),
  }
}

const controlPlaneParts = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const

/** The API server first: the others would only wait for it. */
export async function startParts(cluster: LabCluster): Promise<void> {
  cluster.part('etcd')?.start()
  cluster.part('kube-apiserver')?.start()
  await cluster.ready()
  cluster.part('kube-controller-manager')?.start()
  cluster.part('kube-scheduler')?.start()
}

export function nodeName(cluster: ClusterName): string {
  return `${cluster}-node`
}

const serviceNames = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]
