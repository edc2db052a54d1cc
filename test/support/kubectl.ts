import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { buildGo, builtGo, type GoProgram } from './go-module.ts'

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** Releases that are tested, each a Go module of the same name below this folder. */
const releases = ['1.27', '1.30', '1.33', '1.36']
const releasesFolder = 'test/kubectl/releases'

/** A kubectl to test with; the name is for people. */
export type KubectlBinary = { readonly name: string; readonly path: string }

/**
 * The kubectl binaries to test with: `KUBECTLS` (separated by spaces). Or else all releases when they may be built
 * (`npm run test:kubectl`), where a `kubectl.<release>` on the PATH saves the time. Or else the newest that is built, or
 * the one on the PATH.
 */
export function kubectlBinaries(): readonly KubectlBinary[] {
  const named = process.env.KUBECTLS?.split(' ').filter(Boolean) ?? []
  if (named.length > 0) return named.map(path => ({ name: path, path }))
  if (process.env.ISTHMUS_GO === 'build') return releaseBinaries()
  const built = releases.toReversed().flatMap(release => {
    const path = builtGo(programOf(release))
    return path === undefined ? [] : [{ name: `kubectl ${release}`, path }]
  })
  return [...built, ...(runs('kubectl') ? [{ name: 'kubectl', path: 'kubectl' }] : [])].slice(0, 1)
}

/** Builds those releases that are not there yet; returns all. */
export function releaseBinaries(): readonly KubectlBinary[] {
  return releases.map(releaseBinary)
}

function releaseBinary(release: string): KubectlBinary {
  const program = programOf(release)
  const onPath = `kubectl.${release}`
  const path = builtGo(program) ?? (runs(onPath) ? onPath : buildGo(program))
  return { name: `kubectl ${release}`, path }
}

function programOf(release: string): GoProgram {
  const module = `${releasesFolder}/${release}`
  const version = /k8s[.]io[/]kubectl v0([.]\S+)/.exec(readFileSync(`${module}/go.mod`, 'utf8'))?.[1] ?? ''
  const [, major, minor] = /^(\d+)[.](\d+)$/.exec(release) ?? []
  const stamps = {
    'component-base/version.gitVersion': `v1${version}`,
    'component-base/version.gitMajor': major,
    'component-base/version.gitMinor': minor,
    'client-go/pkg/version.gitVersion': `v1${version}`,
  }
  const ldflags = Object.entries(stamps).map(([variable, value]) => `-X k8s.io/${variable}=${value}`)
  return { module, name: 'kubectl', ldflags: ldflags.join(' ') }
}

function runs(command: string): boolean {
  return spawnSync(command, ['version', '--client']).status === 0
}

/** Runs kubectl against one context of a kubeconfig, with a cache folder of its own. */
export class Kubectl {
  readonly #binary: string
  readonly #common: readonly string[]
  readonly #env: NodeJS.ProcessEnv

  constructor(options: {
    readonly binary: KubectlBinary
    readonly kubeconfig: string
    readonly context: string
    readonly cacheDir: string
    readonly env?: NodeJS.ProcessEnv
  }) {
    this.#binary = options.binary.path
    this.#common = [
      `--kubeconfig=${options.kubeconfig}`,
      `--context=${options.context}`,
      `--cache-dir=${options.cacheDir}`,
    ]
    this.#env = { ...process.env, ...options.env }
  }

  /** Whatever happens. */
  try(args: readonly string[], input?: string, env: NodeJS.ProcessEnv = {}): Promise<Ran> {
    return new Promise(resolve => {
      const child = this.start(args, env)
      let stdout = ''
      let stderr = ''
      child.stdout?.on('data', chunk => {
        stdout += String(chunk)
      })
      child.stderr?.on('data', chunk => {
        stderr += String(chunk)
      })
      child.on('close', code => resolve({ code: code ?? 1, stdout, stderr }))
      // A command that reads nothing may have ended before.
      child.stdin?.on('error', () => undefined).end(input ?? '')
    })
  }

  /** Its standard output; throws what kubectl complained about. */
  async run(args: readonly string[], input?: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const ran = await this.try(args, input, env)
    if (ran.code !== 0)
      throw new Error(`kubectl ${args.join(' ')}: exit ${ran.code}: ${ran.stderr}${ran.stdout}`)
    return ran.stdout
  }

  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    return spawn(this.#binary, [...this.#common, ...args], { env: { ...this.#env, ...env } })
  }
}
