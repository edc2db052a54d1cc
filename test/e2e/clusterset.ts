/**
 * Isthmus on the clusters of a lab: a hub beside them, and for each a member and its DNS on the node. Processes of their
 * own, with the accounts, rights and Services of deploy/ and no others, and CoreDNS with the block of our overlay.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { parseYaml } from '../../src/codec/yaml.ts'
import type { Routing } from '../../src/derive/desired.ts'
import { contextClient } from '../support/fleet-client.ts'
import { writeAccountKubeconfig } from './account.ts'
import { untilAvailable } from './aggregated-member.ts'
import { fabricAddress, inUrl } from './lab/addresses.ts'
import type { LabCluster } from './lab/cluster.ts'
import type { Lab } from './lab/clusters.ts'
import { run } from './lab/command.ts'
import { programs } from './lab/programs.ts'
import { type RoleDaemon, runRoleIn, startRoleDaemon } from './role-daemon.ts'
import { manifestsOf, standInFor } from './stand-in.ts'

export type ClusterSet = {
  /** Starts the members anew, which route imports so from then on. */
  route(routing: Routing): Promise<void>
  /** kubectl with all rights on the hub. */
  onHub(...args: readonly string[]): Promise<string>
  /** A client of the hub with all rights. Close it. */
  hubClient(): Promise<ClusterClient>
}

const namespace = 'isthmus-system'
const hubPort = 7443

/** Resolves when every cluster serves our kinds and resolves our names. */
export async function startClusterSet(lab: Lab, routing: Routing): Promise<ClusterSet> {
  const home = join(lab.folder, 'hub')
  const at = { lab: lab.folder, place: lab.beside }
  const host = fabricAddress(lab.clusters[0]?.addresses)
  const listen = ['--home', home, '--host', host, '--port', String(hubPort)]
  await startRoleDaemon({
    ...at,
    log: join(lab.folder, 'fabric', 'log', 'hub.log'),
    args: () => ['hub', ...listen, '--advertise', `${inUrl(host)}:${hubPort}`],
  })
  let wanted = routing
  const members = await Promise.all(
    lab.clusters.map(async cluster => {
      const id = ['--cluster', cluster.name]
      const token = await runRoleIn(lab.folder, lab.beside, ['token', 'create', '--home', home, ...id])
      await cluster.kubectl.run(['apply', '-f', '-'], list(objectsFor(cluster)))
      const member = await startMember(lab, cluster, () => ['--join', token, '--clustersetip', wanted])
      await startDns(lab, cluster)
      return { cluster, member }
    }),
  )
  const kubectl = [programs(false).find('kubectl') ?? 'kubectl', '--kubeconfig', join(home, 'kubeconfig')]
  return {
    route: async other => {
      if (other === wanted) return
      wanted = other
      const restarted = members.map(async ({ cluster, member }) => {
        await member.stop()
        await member.start()
        await untilAvailable(cluster)
      })
      await Promise.all(restarted)
    },
    hubClient: async () => {
      const path = join(home, 'forwarded.kubeconfig')
      const target = `${inUrl(host)}:${hubPort}`
      const text = readFileSync(join(home, 'kubeconfig'), 'utf8')
      writeFileSync(path, text.replaceAll(`https://${target}`, await lab.reach(target)), { mode: 0o600 })
      return contextClient(path, 'hub')
    },
    onHub: (...args) => run(lab.beside.command([...kubectl, ...args]), { lab: lab.folder }),
  }
}

function list(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}

/** Accounts, rights and Services. */
function objectsFor(cluster: LabCluster): readonly object[] {
  const [node] = cluster.addresses.node
  return standInFor(
    [...manifestsOf('deploy/member'), ...manifestsOf('deploy/users'), ...dnsManifests(cluster)],
    node,
  )
}

/** With an address of the cluster's own Services, which users are told to choose. */
function dnsManifests(cluster: LabCluster): ReturnType<typeof manifestsOf> {
  const text = JSON.stringify(manifestsOf('deploy/dns/base'))
  return JSON.parse(text.replaceAll(placeholder, dnsAddress(cluster)))
}

/** The address in the manifests. */
const placeholder = '10.96.0.53'

function dnsAddress({ addresses }: LabCluster): string {
  return addresses.dns[0].replace(/(10|a)$/, '53')
}

async function startMember(
  lab: Lab,
  cluster: LabCluster,
  more: () => readonly string[],
): Promise<RoleDaemon> {
  const { addresses, folder, kubectl, name, place } = cluster
  const kubeconfig = await accountOf(cluster, 'isthmus-member')
  const listen = ['--home', join(folder, 'member'), '--host', addresses.node[0], '--port', '7444']
  const member = await startRoleDaemon({
    lab: lab.folder,
    place,
    log: join(folder, 'log', 'member.log'),
    args: () => ['member', '--cluster-id', name, ...listen, '--kubeconfig', kubeconfig, ...more()],
  })
  await kubectl.run(['apply', '-f', 'deploy/member/apiservices.yaml'])
  await untilAvailable(cluster)
  return member
}

async function startDns(lab: Lab, cluster: LabCluster): Promise<void> {
  const { addresses, folder, place } = cluster
  const kubeconfig = await accountOf(cluster, 'isthmus-dns')
  const listen = ['--home', join(folder, 'dns-state'), '--host', addresses.node[0], '--port', '53']
  await startRoleDaemon({
    lab: lab.folder,
    place,
    log: join(folder, 'log', 'dns.log'),
    args: () => ['dns', '--kubeconfig', kubeconfig, ...listen],
  })
  await forwardFromCoreDns(cluster)
}

async function accountOf(cluster: LabCluster, name: string): Promise<string> {
  const path = join(cluster.folder, name, 'kubeconfig')
  // On the node, where the API server is reached at its own address.
  const inside = `https://${inUrl(cluster.addresses.node[0])}:6443`
  await writeAccountKubeconfig(path, cluster, { namespace, name }, inside)
  return path
}

/** Adds the block of our overlay to what the cluster's DNS has. */
async function forwardFromCoreDns(cluster: LabCluster): Promise<void> {
  const map = ['configmap/coredns', '--namespace=kube-system']
  const path = 'jsonpath={.data.Corefile}'
  const there = await cluster.kubectl.run(['get', ...map, '-o', path])
  const data = { Corefile: there + overlayBlock().replaceAll(placeholder, dnsAddress(cluster)) }
  await cluster.kubectl.run(['patch', ...map, '--type=merge', '-p', JSON.stringify({ data })])
  // kubelet brings another ConfigMap to a pod in its own time, to a new pod at once.
  for (const verb of ['restart', 'status'])
    await cluster.kubectl.run(['rollout', verb, 'deployment/coredns', '--namespace=kube-system'])
}

function overlayBlock(): string {
  const { value } = parseYaml(readFileSync('deploy/dns/coredns/configmap.yaml', 'utf8'))
  const corefile: string = Object(value).data.Corefile
  return corefile.slice(corefile.indexOf('clusterset.local:53 {'))
}
