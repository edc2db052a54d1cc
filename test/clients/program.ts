import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

/** As the Go program prints it. */
type Line = { readonly check?: string; readonly problem?: string; readonly restart?: Signal }

export type Signal = 'SIGTERM' | 'SIGKILL'

export type Checks = {
  readonly program: string
  readonly args: readonly string[]
  /** Whether informers start with streaming lists: client-go's feature gate. */
  readonly isStreaming: boolean
  /** Ends the server with the signal and starts it again. */
  readonly restart: (signal: Signal) => Promise<void>
}

/** What each check came to, by its name: empty when all is well. Rejects when the program cannot go on. */
export async function runChecks(checks: Checks): Promise<ReadonlyMap<string, string>> {
  const child = spawn(checks.program, [...checks.args, `-streaming=${checks.isStreaming}`], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, KUBE_FEATURE_WatchListClient: String(checks.isStreaming) },
  })
  const complaints = lastOf(child.stderr)
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  const problems = await gather(child, checks.restart)
  const code = await ended
  if (code !== 0) throw new Error(`${checks.program} ended with ${code}: ${complaints()}`)
  return problems
}

async function gather(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  restart: Checks['restart'],
): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>()
  for await (const text of createInterface({ input: child.stdout })) {
    const line: Line = JSON.parse(text)
    if (line.check !== undefined) problems.set(line.check, line.problem ?? '')
    if (line.restart === undefined) continue
    await restart(line.restart)
    child.stdin.write('\n')
  }
  return problems
}

/** The end of what a stream says. */
function lastOf(stream: Readable): () => string {
  let text = ''
  stream.on('data', chunk => {
    text = (text + String(chunk)).slice(-5_000)
  })
  return () => text
}
