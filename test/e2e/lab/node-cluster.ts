// A cluster with a node: everything of it runs in the node's namespaces, and a port on loopback leads to its API server.
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { addressesIn, addressesOf, inUrl } from './addresses.ts'
import { assembleCluster, type ClusterOptions, type LabCluster, nodeName, startParts } from './cluster.ts'
import { startContainerRuntime } from './container-runtime.ts'
import type { Daemon } from './daemon.ts'
import { startDns } from './dns.ts'
import { forwardPort } from './forward.ts'
import { makeNode } from './node.ts'
import { kubelet, kubeProxy, type ProxyMode } from './node-agents.ts'
import type { Part } from './programs.ts'
import type { Steps } from './steps.ts'

export type NodeClusterOptions = ClusterOptions & {
  readonly tools: string
  readonly images: string
  readonly fabricPid: number
  readonly proxyMode: ProxyMode
  readonly featureGates: Readonly<Record<string, boolean>>
  readonly steps: Steps
}

const apiServerPort = 6443
const readyMs = 120_000

export async function startOnNode(options: NodeClusterOptions): Promise<LabCluster> {
  const { lab, name, steps, tools } = options
  const folder = join(lab, name)
  const addresses = addressesIn(options.families, addressesOf(name))
  const node = await steps.time(`${name}: namespaces`, () =>
    makeNode({ lab, name, folder, tools }, options.fabricPid),
  )
  const target = `${inUrl(addresses.node[0])}:${apiServerPort}`
  const log = join(folder, 'log', 'forward.log')
  const forwarded = await forwardPort({ lab, log, tools, pid: node.pid, target })
  const site = { place: node.place, address: addresses.node[0], port: apiServerPort, forwarded }
  const controls = await assembleCluster(options, site)
  const agents = { ...options, folder, addresses, place: node.place, identities: controls.identities }
  const parts = new Map<Part, Daemon>([
    ['kubelet', kubelet(agents)],
    ['kube-proxy', kubeProxy(agents)],
  ])
  await Promise.all([
    steps.time(`${name}: control plane`, () => startParts(controls)),
    steps.time(`${name}: container runtime`, () => startContainerRuntime(agents)),
  ])
  for (const part of parts.values()) part.start()
  const cluster: LabCluster = {
    ...controls,
    place: node.place,
    part: part => parts.get(part) ?? controls.part(part),
  }
  await steps.time(`${name}: node`, () => nodeReady(cluster, parts.values()))
  await steps.time(`${name}: DNS`, () => startDns(cluster))
  return cluster
}

async function nodeReady(cluster: LabCluster, agents: Iterable<Daemon>): Promise<void> {
  const watched = [...agents]
  const dead = (): string | undefined => watched.map(agent => agent.ended()).find(text => text !== undefined)
  await eventually(async () => {
    if (dead() !== undefined) return
    const path = "jsonpath={.status.conditions[?(@.type=='Ready')].status}"
    const ready = await cluster.kubectl.run(['get', 'node', nodeName(cluster.name), '-o', path])
    if (ready !== 'True') throw new Error(`the node of ${cluster.name} is not ready: ${ready}`)
    await cluster.kubectl.run(['get', 'serviceaccount', 'default', '--namespace=default'])
  }, readyMs)
  const sentence = dead()
  if (sentence !== undefined) throw new Error(sentence)
}
