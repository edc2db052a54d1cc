/** Disks that are full, fail or hang, for one process at a time. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const longestSeconds = '600'

/** Why this user cannot have a file system of their own, if so; they must where `CI` is set. */
export function whyNoMount(): string | undefined {
  if (process.env.CI !== undefined) return undefined
  const script = 'mount -t tmpfs -o size=1m none /mnt'
  const tried = spawnSync('unshare', ['--mount', 'sh', '-c', script], { encoding: 'utf8' })
  if (tried.error !== undefined) return 'unshare is not installed'
  return tried.status === 0 ? undefined : `nothing can be mounted: ${tried.stderr.trim().split('\n')[0]}`
}

/** A small file system that only those see whom `through` brings there. */
export type SmallDisk = {
  readonly through: readonly string[]
  /** Where this process finds a file of it. */
  seen(path: string): string
  remove(): Promise<void>
}

export async function smallDisk(at: string, size: string): Promise<SmallDisk> {
  const script = 'mount -t tmpfs -o size="$1" none "$2" && echo there && exec sleep "$3"'
  const holder = spawn('unshare', ['--mount', 'sh', '-c', script, 'sh', size, at, longestSeconds], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await firstLine(holder, /^there$/)
  const inside = 'cd "$1" && shift && exec "$@"'
  return {
    through: ['nsenter', '--mount', '-t', `${holder.pid}`, 'sh', '-c', inside, 'sh', process.cwd()],
    seen: path => `/proc/${holder.pid}/root${path}`,
    remove: () => ended(holder, 'SIGKILL'),
  }
}

/** What becomes of each sync of a process: `error=EIO`, or `delay_enter=` and microseconds. The result ends it. */
export async function injectIntoSyncs(pid: number, fault: string): Promise<() => Promise<void>> {
  const traced = ['-f', '-p', `${pid}`, '-o', '/dev/null', '-e', 'trace=fdatasync']
  const tracer = spawn('strace', [...traced, '-e', `inject=fdatasync:${fault}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await firstLine(tracer, /attached/)
  return () => ended(tracer, 'SIGINT')
}

/** Reading goes on behind it, so that the process never waits for a reader. */
function firstLine(child: ChildProcess, pattern: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    const lines: string[] = []
    createInterface({ input: child.stdout ?? child.stderr ?? process.stdin }).on('line', line => {
      if (lines.length < 100) lines.push(line)
      if (pattern.test(line)) resolve()
    })
    child.once('exit', () => reject(new Error(`it has ended: ${lines.join(' ')}`)))
  })
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}
