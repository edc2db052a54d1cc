// npm run e2e:conformance: the conformance suite of the MCS API on two clusters of the lab, see test/e2e/README.md.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Routing } from '../src/derive/desired.ts'
import { startClusterSet } from '../test/e2e/clusterset.ts'
import { install } from '../test/e2e/installation.ts'
import { type Lab, startClusters } from '../test/e2e/lab/clusters.ts'
import { cacheFolder } from '../test/support/go-module.ts'
import { runScript } from './script.ts'

/** The suite is no module that the Go module proxy serves: this commit of kubernetes-sigs/mcs-api holds it. */
const suite = {
  commit: 'ded161af6ea9596cd9e878c61ed4f4e8d5cf8401',
  sha256: '08035a9f943723b6adf1e65eab7425ecc9b895c141e040b0620766bc335686bd',
  specs: 27,
  /** A spec that nothing but an implementation can pass. */
  control: 'SessionAffinity',
}

type Spec = { readonly name: string; readonly state: string; readonly seconds: number }
type GinkgoSpec = {
  readonly LeafNodeType: string
  readonly LeafNodeText: string
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly State: string
  /** Nanoseconds. */
  readonly RunTime: number
}

const usage = `usage: node hack/mcs-conformance.ts --source=FOLDER [--installed] [--clustersetip=shared|shared-keep-source|local] [--families=dual|IPv4|IPv6]
       node hack/mcs-conformance.ts --source=FOLDER --install=COMMAND

FOLDER is a checkout of kubernetes-sigs/mcs-api at ${suite.commit}.
--installed tests the pods that docs/install.md installs, from an image that is made here, and not processes beside the nodes.
--proxy-mode=nftables|iptables is how kube-proxy works.
COMMAND installs another implementation into the clusters of the contexts east and west of $KUBECONFIG.
--report=FILE keeps the report of a run, in the form that the site of SIG Multicluster takes.
--focus=REGEXP runs some specs alone, to look into them.
`

function requireSuite(source: string): string {
  const folder = join(source, 'conformance')
  const files = existsSync(folder) ? readdirSync(folder).filter(name => /[.](go|gohtml)$/.test(name)) : []
  const hash = createHash('sha256')
  for (const name of files.toSorted()) hash.update(`${name}\n`).update(readFileSync(join(folder, name)))
  const found = hash.digest('hex')
  if (found !== suite.sha256)
    throw new Error(`${folder} is not the suite of ${suite.commit}: its hash is ${found}`)
  return folder
}

/** The suite with client libraries of our own choice: its module names older ones. */
function buildSuite(folder: string, work: string): string {
  const program = join(work, 'conformance.test')
  const module = resolve('test/e2e/conformance/go.mod')
  const flags = ['-c', '-vet=off', '-trimpath', `-modfile=${module}`, '-o', program]
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' }
  const ran = spawnSync('go', ['test', ...flags, '.'], { cwd: folder, env, stdio: 'inherit' })
  if (ran.status !== 0) throw new Error('the suite does not build')
  return program
}

/** What the report calls us: with the last commit that changed the product, not its tests. */
function implementation(): readonly string[] {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const args = ['log', '-1', '--format=%H', '--', 'src', 'apiservice', 'dns', 'deploy']
  const commit = spawnSync('git', args, { encoding: 'utf8' }).stdout.slice(0, 12)
  return ['-organization=Isthmus', '-project=Isthmus', `-version=${version}+${commit}`]
}

/** Runs specs, and returns those that were not skipped. */
function runSuite(
  program: string,
  kubeconfig: string,
  focus: string,
  more: readonly string[] = [],
): readonly Spec[] {
  const work = dirname(program)
  const report = join(work, 'report.json')
  for (const each of [report, join(work, 'report.yaml')]) rmSync(each, { force: true })
  const flags = ['-contexts=east,west', `-ginkgo.json-report=${report}`, `-ginkgo.focus=${focus}`, ...more]
  const env = { ...process.env, KUBECONFIG: kubeconfig }
  spawnSync(program, ['-test.timeout=60m', ...flags], { cwd: work, env, stdio: 'inherit' })
  if (!existsSync(report)) throw new Error('the suite wrote no report')
  const [found]: readonly { readonly SpecReports: readonly GinkgoSpec[] }[] = JSON.parse(
    readFileSync(report, 'utf8'),
  )
  return (found?.SpecReports ?? [])
    .filter(spec => spec.LeafNodeType === 'It' && spec.State !== 'skipped')
    .map(spec => ({
      name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' '),
      state: spec.State,
      seconds: spec.RunTime / 1e9,
    }))
}

async function requireTwoClusters(lab: Lab): Promise<void> {
  const path = ['get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}']
  const clusters = new Set(await Promise.all(lab.clusters.map(({ kubectl }) => kubectl.run(path))))
  if (clusters.size !== 2) throw new Error(`the suite is for two clusters, these are ${clusters.size}`)
}

/** That a spec can fail at all. */
async function control(lab: Lab, program: string, kubeconfig: string): Promise<void> {
  for (const { kubectl } of lab.clusters) await kubectl.run(['apply', '-f', resolve('deploy/crds')])
  const specs = runSuite(program, kubeconfig, suite.control)
  const states = specs.map(({ state }) => state).join(' ')
  if (states !== 'failed')
    throw new Error(`without an implementation the control must fail, it came to "${states}"`)
  for (const { kubectl } of lab.clusters) await kubectl.run(['delete', '-f', resolve('deploy/crds')])
  process.stdout.write('control: the suite fails where there is no implementation, as it must\n')
}

function all(program: string, kubeconfig: string, focus: string, more: readonly string[]): void {
  const specs = runSuite(program, kubeconfig, focus, more)
  for (const { name, state, seconds } of specs)
    process.stdout.write(`${state} after ${seconds.toFixed(1)} s: ${name.trim()}\n`)
  const passed = specs.filter(({ state }) => state === 'passed').length
  process.stdout.write(`${passed} passed, ${specs.length - passed} failed\n`)
  if (focus !== '') return
  if (specs.length !== suite.specs) throw new Error(`${specs.length} specs ran, not ${suite.specs}`)
  if (passed !== suite.specs) throw new Error('the implementation does not conform')
}

function copyReport(work: string, report: string): void {
  mkdirSync(dirname(report), { recursive: true })
  copyFileSync(join(work, 'report.yaml'), report)
}

function installOther(command: string, kubeconfig: string): void {
  const env = { ...process.env, KUBECONFIG: kubeconfig }
  const installed = spawnSync('sh', ['-c', command], { env, stdio: 'inherit' })
  if (installed.status !== 0) throw new Error(`${command} failed`)
}

/** By the commands of docs/install.md; prints the pods that the suite then tests. */
async function installPods({ clusters, folder }: Lab, routing: Routing): Promise<void> {
  const [east, west] = clusters
  if (east === undefined || west === undefined) throw new Error('the page is about two clusters')
  await install(folder, [east, west], [`ISTHMUS_CLUSTERSETIP=${routing}`])
  for (const { kubectl, name } of [east, west]) {
    const pods = await kubectl.run([
      'get',
      'pods',
      '-A',
      '-l',
      'app.kubernetes.io/name=isthmus',
      '-o',
      'name',
    ])
    process.stdout.write(`${name}: ${pods.trim().split('\n').join(', ')}\n`)
  }
}

const routings = ['shared', 'shared-keep-source', 'local'] as const
const families = ['dual', 'IPv4', 'IPv6'] as const
const proxyModes = ['nftables', 'iptables'] as const

function oneOf<T extends string>(known: readonly T[], text: string): T {
  const found = known.find(each => each === text)
  if (found === undefined) throw new Error(usage)
  return found
}

async function main(args: readonly string[]): Promise<void> {
  const options = {
    source: { type: 'string' },
    install: { type: 'string' },
    installed: { type: 'boolean', default: false },
    'proxy-mode': { type: 'string', default: 'nftables' },
    clustersetip: { type: 'string', default: 'shared' },
    families: { type: 'string', default: 'dual' },
    focus: { type: 'string', default: '' },
    report: { type: 'string' },
  } as const
  const {
    source,
    install: other,
    installed,
    focus,
    report,
    ...chosen
  } = parseArgs({ args: [...args], options }).values
  if (source === undefined) throw new Error(usage)
  const routing = oneOf(routings, chosen.clustersetip)
  const stack = oneOf(families, chosen.families)
  const proxyMode = oneOf(proxyModes, chosen['proxy-mode'])
  const kind = [routing, stack, proxyMode, ...(installed ? ['pods'] : [])].join('-').toLowerCase()
  const work = join(cacheFolder(), 'mcs-conformance', kind)
  mkdirSync(work, { recursive: true })
  const program = buildSuite(requireSuite(source), work)
  const lab = await startClusters({
    name: `mcs-${kind}`,
    count: 2,
    nodes: true,
    families: stack,
    proxyMode,
  })
  try {
    const kubeconfig = lab.clusters.map(cluster => cluster.kubeconfig).join(delimiter)
    await requireTwoClusters(lab)
    await control(lab, program, kubeconfig)
    if (other !== undefined) installOther(other, kubeconfig)
    else if (installed) await installPods(lab, routing)
    else await startClusterSet(lab, routing)
    all(program, kubeconfig, focus, other === undefined ? implementation() : [])
    if (report !== undefined) copyReport(work, report)
  } finally {
    const logs = await lab.stop({ keepLogs: true })
    process.stdout.write(`the logs are in ${logs}\n`)
  }
}

await runScript(() => main(process.argv.slice(2)))
