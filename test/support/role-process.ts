import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Identity } from '../../src/identity/certificate.ts'

/** The program as a process of its own. */
export type RoleProcess = {
  readonly pid: number
  /** What it printed on both outputs, line by line. */
  readonly output: readonly string[]
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>
  /** SIGKILL. */
  kill(): Promise<void>
}

export type Ended = { readonly code: number | null; readonly output: string }

const maxLines = 10_000

/** The arguments of a role that listens there. */
export function listenAt(home: string, port: number): readonly string[] {
  return ['--home', home, '--host', '127.0.0.1', '--port', String(port)]
}

/** How its administrator reaches an API server that listens there. */
export function adminOf(
  home: string,
  port: number,
): { readonly url: string; readonly ca: string; readonly identity: Identity } {
  const read = (file: string): string => readFileSync(join(home, file), 'utf8')
  return {
    url: `https://127.0.0.1:${port}`,
    ca: read('pki/ca.crt'),
    identity: { certificate: read('admin.crt'), key: read('admin.key') },
  }
}

/**
 * Starts `isthmus <args>` and resolves with its `ready` line; rejects with the output when it ends before. `through` is a
 * command that becomes the program which follows it.
 */
export async function startRole(
  args: readonly string[],
  through: readonly string[] = [],
): Promise<RoleProcess> {
  const child = launched(args, through)
  const output: string[] = []
  await readyLine(child, args[0] ?? '', output)
  return {
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

/** Runs `isthmus <args>` to its end, whatever that is; with SIGTERM at the first line that matches `stopAt`. */
export async function runToEnd(
  args: readonly string[],
  stopAt?: RegExp,
  through: readonly string[] = [],
): Promise<Ended> {
  const child = launched(args, through)
  const output: string[] = []
  // Once: a second signal means that the process must not wait for a good end.
  let isStopped = false
  gather(child, line => {
    output.push(line)
    if (isStopped || !stopAt?.test(line)) return
    isStopped = true
    child.kill('SIGTERM')
  })
  return { code: await exitOf(child), output: output.join('\n') }
}

/** What a role prints that does its work and ends. Rejects when it fails. */
export async function runRole(args: readonly string[]): Promise<string> {
  const { code, output } = await runToEnd(args)
  if (code !== 0) throw new Error(`isthmus ${args[0]} ended with ${code}: ${output}`)
  return output.trim()
}

const alive = new Set<ChildProcess>()
/** SIGKILL to all that are left. */
export function endLeftBehind(): void {
  for (const child of alive) child.kill('SIGKILL')
}

function launched(args: readonly string[], through: readonly string[] = []): ChildProcess {
  const [command = '', ...rest] = [...through, process.execPath, 'src/main.ts', ...args]
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] })
  alive.add(child)
  child.once('exit', () => alive.delete(child))
  return child
}

function gather(child: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', onLine)
  }
}

function readyLine(child: ChildProcess, name: string, output: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    gather(child, line => {
      if (output.length < maxLines) output.push(line)
      if (line.startsWith('ready')) resolve()
    })
    child.once('exit', code =>
      reject(new Error(`isthmus ${name} ended with ${code}:\n${output.slice(-20).join('\n')}`)),
    )
  })
}

/** Resolves when the process has ended and all that it printed has been read. */
async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  return child.exitCode
}
