/**
 * A lab: clusters side by side on this machine, from stock Kubernetes programs.
 *
 * Everything of it lies in one folder outside the repository and carries that folder's name, so that `sweep` finds
 * all of it after any crash.
 */
import { cpSync, existsSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { errorText } from '../../../src/kernel/abort.ts'
import { cacheFolder } from '../../support/go-module.ts'
import { clusterNames, type Families } from './addresses.ts'
import { reasonsAgainstNodes } from './capabilities.ts'
import { type ClusterOptions, type LabCluster, startOnLoopback } from './cluster.ts'
import { here, type Place } from './daemon.ts'
import type { Flags } from './flags.ts'
import { claimFolder } from './folder.ts'
import { forwardPort } from './forward.ts'
import { toolsProgram, writeImages } from './images.ts'
import { makeFabric } from './node.ts'
import type { ProxyMode } from './node-agents.ts'
import { startOnNode } from './node-cluster.ts'
import { programs } from './programs.ts'
import { printedSteps, type Steps } from './steps.ts'
import { sweep } from './sweep.ts'

export type LabOptions = {
  /** Of the lab; two of one name cannot be up at the same time. */
  readonly name: string
  readonly count: 1 | 2 | 3
  /** With a node each, which runs pods, or control planes alone, which need no privileges. */
  readonly nodes: boolean
  /** Stays when this process ends, until `npm run e2e:down`. */
  readonly kept?: boolean
  readonly proxyMode?: ProxyMode
  /** Of nodes, pods and Services; both unless told. */
  readonly families?: Families
  readonly featureGates?: Readonly<Record<string, boolean>>
  readonly etcdFlags?: Flags
  readonly apiServerFlags?: Flags
  readonly controllerFlags?: Flags
}

export type Lab = {
  readonly folder: string
  readonly clusters: readonly LabCluster[]
  /** For processes beside the nodes, which these reach at the fabric's addresses. The machine itself without nodes. */
  readonly beside: Place
  /** The URL on loopback of a server that runs there, by its host and port. */
  reach(target: string): Promise<string>
  /** Leaves nothing but the logs, if asked, and returns where these are. */
  stop(options?: { readonly keepLogs: boolean }): Promise<string | undefined>
}

/** Brings clusters up; when that fails, nothing is left but the logs. */
export async function startClusters(options: LabOptions): Promise<Lab> {
  const steps = printedSteps(options.name)
  if (options.nodes) requireNodes()
  const found = await steps.time('programs', () => programs(!options.nodes))
  const folder = claimFolder(options.name, options.kept ?? false)
  try {
    const each = clusterNames.slice(0, options.count).map(name => ({
      lab: folder,
      name,
      families: options.families ?? 'dual',
      programs: found,
      featureGates: options.featureGates ?? {},
      etcdFlags: options.etcdFlags ?? {},
      apiServerFlags: options.apiServerFlags ?? {},
      controllerFlags: options.controllerFlags ?? {},
    }))
    const { clusters, beside, reach } = options.nodes
      ? await withNodes(each, options.proxyMode ?? 'nftables', steps)
      : await withoutNodes(each, steps)
    return {
      folder,
      clusters,
      beside,
      reach,
      stop: ({ keepLogs } = { keepLogs: false }) => stopLab(folder, keepLogs),
    }
  } catch (cause) {
    const logs = await stopLab(folder, true)
    throw new Error(`the lab did not come up, its logs are in ${logs}: ${errorText(cause)}`, { cause })
  }
}

function requireNodes(): void {
  const reasons = reasonsAgainstNodes()
  if (reasons.length > 0) throw new Error(reasons.join('; '))
}

async function withNodes(
  each: readonly ClusterOptions[],
  proxyMode: ProxyMode,
  steps: Steps,
): Promise<Pick<Lab, 'clusters' | 'beside' | 'reach'>> {
  const lab = each[0]?.lab ?? ''
  const tools = toolsProgram()
  const [fabric, images] = await Promise.all([
    steps.time('fabric', () => makeFabric(lab, tools)),
    steps.time('images', () => writeImages(lab)),
  ])
  const common = { tools, images, fabricPid: fabric.pid, proxyMode, steps }
  const clusters = await Promise.all(each.map(one => startOnNode({ ...one, ...common })))
  const log = join(lab, 'fabric', 'log', 'forward.log')
  const reach = (target: string): Promise<string> => forwardPort({ lab, log, tools, pid: fabric.pid, target })
  return { clusters, beside: fabric.place, reach }
}

async function withoutNodes(
  each: readonly ClusterOptions[],
  steps: Steps,
): Promise<Pick<Lab, 'clusters' | 'beside' | 'reach'>> {
  const clusters = await Promise.all(
    each.map(one => steps.time(`${one.name}: control plane`, () => startOnLoopback(one))),
  )
  return { clusters, beside: here, reach: async target => `https://${target}` }
}

async function stopLab(folder: string, keepLogs: boolean): Promise<string | undefined> {
  const logs = keepLogs ? keptLogs(folder) : undefined
  await sweep(folder)
  return logs
}

/** The logs of the last failure of this lab. */
function keptLogs(folder: string): string {
  const kept = join(cacheFolder(), 'lab-logs', basename(folder))
  rmSync(kept, { recursive: true, force: true })
  for (const name of [...clusterNames, 'fabric']) {
    const logs = join(folder, name, 'log')
    if (existsSync(logs)) cpSync(logs, join(kept, name), { recursive: true })
  }
  return kept
}
