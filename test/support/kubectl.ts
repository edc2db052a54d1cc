import { type ChildProcess, spawn, spawnSync } from 'node:child_process'

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** The kubectl binaries to test with: `KUBECTLS` (separated by spaces), or the one on the PATH. */
export function kubectlBinaries(): readonly string[] {
  const named = process.env.KUBECTLS?.split(' ').filter(Boolean)
  if (named !== undefined && named.length > 0) return named
  return spawnSync('kubectl', ['version', '--client']).status === 0 ? ['kubectl'] : []
}

/** Runs kubectl against one context of a kubeconfig, with a cache folder of its own. */
export class Kubectl {
  readonly #binary: string
  readonly #common: readonly string[]
  readonly #env: NodeJS.ProcessEnv

  constructor(options: {
    readonly binary: string
    readonly kubeconfig: string
    readonly context: string
    readonly cacheDir: string
    readonly env?: NodeJS.ProcessEnv
  }) {
    this.#binary = options.binary
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
      child.stdin?.end(input ?? '')
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
