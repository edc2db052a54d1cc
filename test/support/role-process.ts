import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type RoleProcess = {
  readonly output: readonly string[]
  /** SIGKILL, unless it has ended. */
  kill(): Promise<void>
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>
}

/** One role as a process of its own, once it has printed that it is ready. */
export async function startRole(args: readonly string[]): Promise<RoleProcess> {
  const child = spawn(process.execPath, ['src/main.ts', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  const ended = once(child, 'exit')
  const ready = new Promise<void>(resolve => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', line => {
        if (output.length < 10_000) output.push(line)
        if (line.startsWith('ready')) resolve()
      })
    }
  })
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    child.kill(signal)
    await ended
    return child.exitCode
  }
  await Promise.race([
    ready,
    ended.then(() => {
      throw new Error(`isthmus ${args[0]} ended:\n${output.slice(-20).join('\n')}`)
    }),
  ])
  return {
    output,
    kill: async () => {
      await end('SIGKILL')
    },
    stop: () => end('SIGTERM'),
  }
}

/** What a role prints that does its work and ends. */
export async function runRole(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ['src/main.ts', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', chunk => {
    printed += String(chunk)
  })
  await once(child, 'close')
  if (child.exitCode !== 0) throw new Error(`isthmus ${args[0]} ended with ${child.exitCode}`)
  return printed.trim()
}
