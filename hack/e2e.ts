// npm run e2e:up, e2e:down and test:e2e: clusters on this machine, see test/e2e/README.md.
import { spawnSync } from 'node:child_process'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { clusterNames } from '../test/e2e/lab/addresses.ts'
import { reasonsAgainstNodes, skipsNodes } from '../test/e2e/lab/capabilities.ts'
import { type LabOptions, startClusters } from '../test/e2e/lab/clusters.ts'
import { isOwned } from '../test/e2e/lab/folder.ts'
import { dnsProgram, toolsProgram } from '../test/e2e/lab/images.ts'
import { programs } from '../test/e2e/lab/programs.ts'
import { labsLeft, sweep } from '../test/e2e/lab/sweep.ts'
import { runScript } from './script.ts'

const usage = `usage: node hack/e2e.ts up [1|2|3] [--no-nodes] [--name=NAME]
       node hack/e2e.ts down [--name=NAME]
       node hack/e2e.ts build
       node hack/e2e.ts test [arguments of vitest]
`

type Options = { readonly count: string; readonly nodes: boolean; readonly name: string | undefined }

async function up({ count, nodes, name = 'up' }: Options): Promise<void> {
  const lab = await startClusters({ name, kept: true, count: countOf(count), nodes })
  for (const cluster of lab.clusters) process.stdout.write(`${cluster.name}: ${cluster.kubeconfig}\n`)
}

function countOf(text: string): LabOptions['count'] {
  if (text === '1') return 1
  if (text === '2') return 2
  if (text === '3') return 3
  throw new Error(`a lab has 1 to ${clusterNames.length} clusters, not ${text}`)
}

/** Every lab but those of tests that still run; one, if it is named. */
async function down({ name }: Options): Promise<void> {
  for (const folder of labsLeft()) {
    if (name !== undefined && basename(folder) !== name) continue
    if (isOwned(folder)) {
      process.stdout.write(`${folder} belongs to tests that are running\n`)
    } else {
      await sweep(folder)
      process.stdout.write(`${folder} removed\n`)
    }
  }
}

/** What takes minutes the first time, so that tests do not wait for it. */
function build(): void {
  programs(true)
  if (reasonsAgainstNodes().length > 0) return
  programs(false)
  toolsProgram()
  dnsProgram()
}

function test(args: readonly string[]): void {
  build()
  if (skipsNodes())
    process.stdout.write(
      `tests with nodes are skipped on this machine: ${reasonsAgainstNodes().join('; ')}\n`,
    )
  const ran = spawnSync('vitest', ['run', '--config', 'hack/config/e2e.ts', ...args], { stdio: 'inherit' })
  process.exitCode = ran.status ?? 1
}

function optionsIn(args: readonly string[]): Options {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { name: { type: 'string' }, 'no-nodes': { type: 'boolean', default: false } },
  })
  return { count: positionals[0] ?? '2', nodes: !values['no-nodes'], name: values.name }
}

const [command, ...args] = process.argv.slice(2)
await runScript(async () => {
  if (command === 'up') await up(optionsIn(args))
  else if (command === 'down') await down(optionsIn(args))
  else if (command === 'build') build()
  else if (command === 'test') test(args)
  else throw new Error(usage)
})
