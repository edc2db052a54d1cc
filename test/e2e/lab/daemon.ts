import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Where processes run: on the machine itself, or in the namespaces of a node. */
export type Place = {
  /** The command that runs this one there. */
  command(argv: readonly string[]): readonly string[]
  /** Whether the process of `command` is a parent that waits for the one that was asked for. */
  readonly isWaiting: boolean
}

export const here: Place = { command: argv => argv, isWaiting: false }

/** A process that goes on when this one ends. */
export type Daemon = {
  readonly log: string
  start(): void
  /** Throws unless it was started. */
  pid(): number
  /** Undefined while it runs, and before it was started. */
  ended(): string | undefined
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** Says which lab a process belongs to, for whoever cleans up. */
export const labVariable = 'ISTHMUS_LAB'

export function labEnvironment(lab: string): NodeJS.ProcessEnv {
  const { KUBECONFIG: _kubeconfig, NODE_OPTIONS: _options, ...environment } = process.env
  return { ...environment, PATH: `${environment.PATH}:/usr/local/sbin:/usr/sbin:/sbin`, [labVariable]: lab }
}

/** `argv` is asked for at each start, so that what it says may change. */
export function daemon(options: {
  readonly lab: string
  readonly log: string
  readonly place: Place
  argv(): readonly string[]
}): Daemon {
  let child: ChildProcess | undefined
  const isRunning = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null
  return {
    log: options.log,
    start: () => {
      if (isRunning()) throw new Error(`${options.log} is written by a process that runs already`)
      child = launch(options)
    },
    pid: () => {
      if (child?.pid === undefined) throw new Error(`${options.log} has no process`)
      return child.pid
    },
    ended: () =>
      child === undefined || isRunning()
        ? undefined
        : `it ended with ${child.exitCode ?? child.signalCode}; the end of ${options.log}:\n${lastLines(options.log)}`,
    stop: async (signal = 'SIGTERM') => {
      if (child?.pid === undefined || !isRunning()) return
      const end = once(child, 'exit')
      process.kill(options.place.isWaiting ? childOf(child.pid) : child.pid, signal)
      await end
    },
  }
}

function launch(options: {
  readonly lab: string
  readonly log: string
  readonly place: Place
  argv(): readonly string[]
}): ChildProcess {
  const [program = '', ...args] = options.place.command(options.argv())
  mkdirSync(dirname(options.log), { recursive: true })
  const log = openSync(options.log, 'a')
  const child = spawn(program, args, {
    cwd: '/',
    detached: true,
    env: labEnvironment(options.lab),
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.on('error', () => undefined)
  child.unref()
  return child
}

/** The process that nsenter forked; itself when there is none yet or no more. */
export function childOf(pid: number): number {
  const children = `/proc/${pid}/task/${pid}/children`
  const first = existsSync(children) ? readFileSync(children, 'utf8').trim().split(' ')[0] : ''
  return first === undefined || first === '' ? pid : Number(first)
}

export function lastLines(file: string, count = 15): string {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n') : ''
}
