// The product as users install it: an image that is made here, and the commands of docs/install.md.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { copyOfDeploy } from '../support/deploy.ts'
import { codeBlocks } from '../support/markdown.ts'
import { Shell } from '../support/shell.ts'
import { inUrl } from './lab/addresses.ts'
import { type LabCluster, nodeName } from './lab/cluster.ts'
import type { Lab } from './lab/clusters.ts'
import { run } from './lab/command.ts'
import { programs } from './lab/programs.ts'

export const hubNamespace = 'isthmus-hub'
export const memberNamespace = 'isthmus-system'

export type Installation = {
  /** Runs the block of the page that holds the text, as it is written there. */
  block(text: string): Promise<string>
}

/** What has to be pasted to have hub, members and DNS in both clusters, by a text that the block has. */
const blocksToInstall = [
  'apply -k deploy/example/hub',
  'token create',
  'apply -k deploy/example/east',
  '--for condition=Available apiservice',
  'rollout status deployment/isthmus-dns',
  'rollout restart deployment/coredns',
]

/**
 * Installs hub, members and DNS by the commands of the page. The hub's cluster is the first. Members have these settings
 * besides, such as `ISTHMUS_CLUSTERSETIP=local`.
 */
export async function install(
  lab: string,
  clusters: readonly [LabCluster, LabCluster],
  settings: readonly string[] = [],
): Promise<Installation> {
  const installation = await prepareInstallation(lab, clusters, settings)
  for (const text of blocksToInstall) await installation.block(text)
  return installation
}

/**
 * Makes the image, brings it into the clusters' containerd, gives them volumes, and writes into a copy of deploy/ what
 * users are told to write.
 */
async function prepareInstallation(
  lab: string,
  clusters: readonly [LabCluster, LabCluster],
  settings: readonly string[],
): Promise<Installation> {
  await provideImage(lab, clusters)
  const [withHub] = clusters
  await provideVolume(withHub, 'isthmus-hub', hubNamespace)
  for (const cluster of clusters) await provideVolume(cluster, 'isthmus-member', memberNamespace)
  const examples = join(copyOfDeploy(lab), 'example')
  replaceIn(join(examples, 'hub'), 'hub.example.com', inUrl(withHub.addresses.node[0]))
  for (const { name } of clusters) {
    const id = `- ISTHMUS_CLUSTER_ID=${name}`
    replaceIn(join(examples, name), id, [id, ...settings.map(setting => `- ${setting}`)].join('\n  '))
  }
  const shell = shellFor(lab, clusters)
  const blocks = codeBlocks(readFileSync('docs/install.md', 'utf8'), 'sh')
  return {
    block: async text => {
      const found = blocks.filter(block => block.includes(text))
      if (found.length !== 1) throw new Error(`${found.length} blocks of docs/install.md have: ${text}`)
      return shell.run(found[0] ?? '')
    },
  }
}

export function replaceIn(overlay: string, before: string, after: string): void {
  const path = join(overlay, 'kustomization.yaml')
  const text = readFileSync(path, 'utf8')
  if (!text.includes(before)) throw new Error(`${path} does not have: ${before}`)
  writeFileSync(path, text.replace(before, after))
}

/** With the kubectl of the lab, and a context for each cluster. */
function shellFor(lab: string, clusters: readonly LabCluster[]): Shell {
  const bin = join(lab, 'bin')
  mkdirSync(bin, { recursive: true })
  const kubectl = programs(false).find('kubectl')
  if (kubectl === undefined) throw new Error('the lab has no kubectl')
  symlinkSync(kubectl, join(bin, 'kubectl'))
  const kubeconfigs = clusters.map(({ kubeconfig }) => kubeconfig).join(':')
  const prelude = `cd ${lab}\nexport PATH=${bin}:$PATH KUBECONFIG=${kubeconfigs}`
  return new Shell({ folder: dirname(bin), prelude, adapt: block => block })
}

/** The hub's own kubectl, with the kubeconfig that one of its pods has. */
export async function kubectlOfHub(
  { beside, folder }: Pick<Lab, 'beside' | 'folder'>,
  { addresses, kubectl }: LabCluster,
): Promise<(...args: readonly string[]) => Promise<string>> {
  const read = 'process.stdout.write(fs.readFileSync(process.env.ISTHMUS_HOME + "/kubeconfig"))'
  const pod = ['deployment/isthmus-hub', '-n', hubNamespace]
  const text = await kubectl.run(['exec', ...pod, '--', 'node', '--eval', read])
  const path = join(folder, 'hub.kubeconfig')
  writeFileSync(path, text.replace(/server: .*/, `server: https://${inUrl(addresses.node[0])}:30443`))
  const command = [programs(false).find('kubectl') ?? 'kubectl', '--kubeconfig', path]
  return (...args) => run(beside.command([...command, ...args]), { lab: folder })
}

export async function provideImage(lab: string, clusters: readonly LabCluster[]): Promise<void> {
  const archive = join(lab, 'isthmus.tar')
  const made = spawnSync(process.execPath, ['hack/image.ts', `--output=${archive}`], { encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`hack/image.ts failed: ${made.stderr}`)
  const load = ['ctr', '--namespace=k8s.io', 'images', 'import', '--digests=false', archive]
  for (const { place } of clusters) await run(place.command(load), { lab, timeoutMs: 180_000 })
}

/** A lab has no provisioner of volumes: one of the node's own disk for each claim. */
async function provideVolume(cluster: LabCluster, claim: string, namespace: string): Promise<void> {
  const path = `/var/lib/volumes/${claim}`
  mkdirSync(join(cluster.folder, 'root', path), { recursive: true })
  const hostname = { key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName(cluster.name)] }
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: claim },
    spec: {
      capacity: { storage: '2Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace, name: claim },
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [hostname] }] } },
    },
  }
  await cluster.kubectl.run(['apply', '-f', '-'], JSON.stringify(volume))
}
