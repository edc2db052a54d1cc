// Commands of the documentation, run as people would run them.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export type ShellOptions = {
  /** Of logs and of HOME. */
  readonly folder: string
  /** Runs before each block. */
  readonly prelude: string
  /** A block as it is written → as it can be run here. */
  adapt(block: string): string
}

export class Shell {
  readonly #options: ShellOptions
  readonly #running = new Map<string, ChildProcess>()

  constructor(options: ShellOptions) {
    this.#options = options
  }

  /** Its standard output; rejects with both outputs when a command of it fails. */
  run(block: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { encoding: 'utf8', env: this.#environment(), timeout: 120_000 } as const
      execFile('bash', this.#arguments(block), options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(`this block failed:\n${block}\n${stderr}${stdout}`, { cause: error }))
      })
    })
  }

  /** A block that ends with a process that runs until it is stopped; resolves with its `ready` line. */
  async start(name: string, block: string): Promise<string> {
    const log = openSync(join(this.#options.folder, `${name}.log`), 'a')
    // A group of its own, so that a signal reaches the process behind the shell.
    const child = spawn('bash', this.#arguments(block), {
      env: this.#environment(),
      stdio: ['ignore', 'pipe', log],
      detached: true,
    })
    closeSync(log)
    this.#running.set(name, child)
    return new Promise((resolve, reject) => {
      if (child.stdout !== null) {
        createInterface({ input: child.stdout }).on('line', line => {
          if (line.startsWith('ready')) resolve(line)
        })
      }
      child.once('exit', code =>
        reject(
          new Error(`${name} ended with ${code} before it was ready:
${block}`),
        ),
      )
    })
  }

  /** SIGTERM to the process and to the shell around it. */
  async stop(name: string): Promise<void> {
    const child = this.#running.get(name)
    this.#running.delete(name)
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    process.kill(-child.pid, 'SIGTERM')
    await ended
  }

  async stopAll(): Promise<void> {
    for (const name of [...this.#running.keys()].toReversed()) await this.stop(name)
  }

  #arguments(block: string): readonly string[] {
    const { adapt, prelude } = this.#options
    return ['-euo', 'pipefail', '-c', `${adapt(prelude)}\n${adapt(block)}`]
  }

  #environment(): NodeJS.ProcessEnv {
    const { KUBECONFIG: _kubeconfig, ...environment } = process.env
    return { ...environment, HOME: this.#options.folder }
  }
}
