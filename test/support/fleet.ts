import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export type Fleet = {
  readonly home: string
  readonly kubeconfig: string
  /** The hub's port; members follow on +1, +2…, their DNS on +10, +11…. */
  readonly port: number
  readonly pid: number
  /** What the process printed, line by line. */
  readonly output: readonly string[]
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>
  /** SIGKILL. */
  kill(): Promise<void>
}

export type FleetOptions = {
  readonly home?: string
  readonly port?: number
  readonly args?: readonly string[]
}

const span = 20

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

/** Below the ports that Linux gives to outgoing connections. */
const firstPort = 20_000
const lastPort = 32_000

/** A port with `span` free ones from it on, chosen at random so that runs side by side rarely meet. */
export async function freePorts(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const base = firstPort + Math.floor((Math.random() * (lastPort - firstPort)) / span) * span
    const free = await Promise.all(Array.from({ length: span }, (_, i) => isFree(base + i)))
    if (free.every(Boolean)) return base
  }
  throw new Error('no free range of ports')
}

/** A folder that is gone when `dispose` is called. */
export function temporaryFolder(): { readonly path: string; dispose(): void } {
  const path = mkdtempSync(join(tmpdir(), 'isthmus-'))
  return { path, dispose: () => rmSync(path, { recursive: true, force: true }) }
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

/** Resolves with the first line that begins with `ready`; rejects with the output when the process ends before. */
function readyLine(child: ChildProcess, output: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on('line', line => {
        if (output.length < 10_000) output.push(line)
        if (line.startsWith('ready')) resolve()
      })
    }
    child.once('exit', code =>
      reject(new Error(`the fleet ended with ${code}:\n${output.slice(-20).join('\n')}`)),
    )
  })
}

/** `npm start` without npm: the fleet as a process of its own. */
export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  const port = options.port ?? (await freePorts())
  const home = options.home ?? temporaryFolder().path
  const args = ['src/main.ts', 'fleet', '--home', home, '--port', String(port), ...(options.args ?? [])]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  await readyLine(child, output)
  return {
    home,
    kubeconfig: join(home, 'kubeconfig'),
    port,
    pid: child.pid ?? 0,
    output,
    stop: () => {
      child.kill('SIGTERM')
      return exitOf(child)
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exitOf(child)
    },
  }
}
