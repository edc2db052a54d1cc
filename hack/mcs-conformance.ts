// npm run e2e:conformance: the conformance suite of the MCS API on two clusters of the lab, see test/e2e/README.md.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { errorText } from '../src/kernel/abort.ts'
import { type Lab, startClusters } from '../test/e2e/lab/clusters.ts'
import { cacheFolder } from '../test/support/go-module.ts'

/** The suite is no module that the Go module proxy serves: this commit of kubernetes-sigs/mcs-api holds it. */
const suite = {
  commit: 'ded161af6ea9596cd9e878c61ed4f4e8d5cf8401',
  sha256: '08035a9f943723b6adf1e65eab7425ecc9b895c141e040b0620766bc335686bd',
  specs: 27,
  /** A spec that nothing but an implementation can pass. */
  control: 'SessionAffinity',
}

type Spec = { readonly name: string; readonly state: string }
type GinkgoSpec = {
  readonly LeafNodeType: string
  readonly LeafNodeText: string
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly State: string
}

const usage = `usage: node hack/mcs-conformance.ts --source=FOLDER [--install=COMMAND]

FOLDER is a checkout of kubernetes-sigs/mcs-api at ${suite.commit}.
COMMAND installs an implementation into the clusters of the contexts east and west of $KUBECONFIG.
Without it, only the control runs: a spec that must fail where there is no implementation.
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

/** Runs specs, and returns those that were not skipped. */
function runSuite(program: string, kubeconfig: string, focus: string): readonly Spec[] {
  const work = join(program, '..')
  const report = join(work, 'report.json')
  rmSync(report, { force: true })
  const flags = ['-contexts=east,west', `-ginkgo.json-report=${report}`, `-ginkgo.focus=${focus}`]
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
  process.stdout.write('control: the suite fails where there is no implementation, as it must\n')
}

function all(program: string, kubeconfig: string): void {
  const specs = runSuite(program, kubeconfig, '')
  for (const { name, state } of specs) process.stdout.write(`${state}: ${name.trim()}\n`)
  const passed = specs.filter(({ state }) => state === 'passed').length
  process.stdout.write(`${passed} passed, ${specs.length - passed} failed\n`)
  if (specs.length !== suite.specs) throw new Error(`${specs.length} specs ran, not ${suite.specs}`)
  if (passed !== suite.specs) throw new Error('the implementation does not conform')
}

async function main(args: readonly string[]): Promise<void> {
  const options = { source: { type: 'string' }, install: { type: 'string' } } as const
  const { source, install } = parseArgs({ args: [...args], options }).values
  if (source === undefined) throw new Error(usage)
  const work = join(cacheFolder(), 'mcs-conformance')
  mkdirSync(work, { recursive: true })
  const program = buildSuite(requireSuite(source), work)
  const lab = await startClusters({ name: 'conformance', count: 2, nodes: true })
  try {
    const kubeconfig = lab.clusters.map(cluster => cluster.kubeconfig).join(delimiter)
    await requireTwoClusters(lab)
    await control(lab, program, kubeconfig)
    if (install === undefined) return
    const env = { ...process.env, KUBECONFIG: kubeconfig }
    const installed = spawnSync('sh', ['-c', install], { env, stdio: 'inherit' })
    if (installed.status !== 0) throw new Error(`${install} failed`)
    all(program, kubeconfig)
  } finally {
    await lab.stop()
  }
}

// What waits here waits on timers that do not keep a process alive.
const alive = setInterval(() => undefined, 60_000)
try {
  await main(process.argv.slice(2))
} catch (thrown) {
  process.stderr.write(`${errorText(thrown)}\n`)
  process.exitCode = 1
} finally {
  clearInterval(alive)
}
