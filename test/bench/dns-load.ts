/** Name servers under load, and what they take for it. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { processorSeconds } from './processor.ts'

const run = promisify(execFile)

export type Server = { readonly name: string; readonly pid: number; readonly port: number }

export type Measured = {
  readonly perSecond: number
  readonly perCpuSecond: number
  readonly lost: number
  readonly latenciesMs: readonly number[]
}

export type Load = {
  /** Of queries, as dnsperf reads it. */
  readonly file: string
  readonly transport: 'udp' | 'tcp'
  readonly seconds: number
  /** Queries that are asked and not yet answered. */
  readonly outstanding: number
  /** At most so many a second; as many as are answered when absent. */
  readonly perSecond?: number
}

export function requireDnsperf(): void {
  if (spawnSync('dnsperf', ['-h']).error !== undefined)
    throw new Error('dnsperf is not installed (Debian: dnsperf)')
}

/** A script of this folder that prints `ready PORT`. */
export async function startScript(
  script: string,
  ...args: readonly string[]
): Promise<Server & { readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { name: script, child, pid: child.pid ?? 0, port: Number(String(line).split(' ')[1]) }
}

export async function stopScript({ child }: { readonly child: ChildProcess }): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** Eight clients. */
export async function ask(server: Server, load: Load): Promise<Measured> {
  const before = cpuSeconds(server.pid)
  const { file, transport, seconds, outstanding, perSecond } = load
  const numbers = { '-p': server.port, '-l': seconds, '-c': 8, '-q': outstanding }
  const args = ['-s', '127.0.0.1', '-d', file, '-m', transport]
  for (const [flag, number] of Object.entries(numbers)) args.push(flag, String(number))
  if (perSecond !== undefined) args.push('-Q', String(perSecond), '-v')
  const { stdout } = await run('dnsperf', args, { maxBuffer: 256 * 1024 * 1024 })
  const cpu = cpuSeconds(server.pid) - before
  const figure = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1])
  const latenciesMs = [...stdout.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gm)].map(match => 1000 * Number(match[1]))
  return {
    perSecond: figure(/Queries per second:\s+([\d.]+)/),
    perCpuSecond: figure(/Queries completed:\s+(\d+)/) / cpu,
    lost: figure(/Queries lost:\s+(\d+)/),
    latenciesMs: latenciesMs.sort((one, other) => one - other),
  }
}

/** Processor time of a process, its threads and its children. */
function cpuSeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return children.reduce((sum, child) => sum + cpuSeconds(Number(child)), processorSeconds([pid]))
}

/** What a process holds in memory. */
export function residentMegabytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
