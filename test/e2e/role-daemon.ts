// A role of ours as a process of a lab, wherever in it: it goes with the lab, whatever happens to the tests.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { run } from './lab/command.ts'
import { type Daemon, daemon, type Place } from './lab/daemon.ts'

export type RoleDaemon = {
  readonly log: string
  /** Resolves when it is ready. */
  start(): Promise<void>
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

type RoleOptions = {
  readonly lab: string
  readonly place: Place
  readonly log: string
  /** Asked for at each start, so that what they say may change. */
  args(): readonly string[]
}

const readyMs = 90_000
const command = [process.execPath, resolve('src/main.ts')]

/** Starts `isthmus <args>` and resolves when it says that it is ready. */
export async function startRoleDaemon({ lab, place, log, args }: RoleOptions): Promise<RoleDaemon> {
  const process = daemon({ lab, place, log, argv: () => [...command, ...args()] })
  const start = async (): Promise<void> => {
    const before = timesReady(log)
    process.start()
    await untilReady(process, before)
  }
  await start()
  return { log, start, stop: signal => process.stop(signal) }
}

async function untilReady(process: Daemon, before: number): Promise<void> {
  await eventually(() => {
    if (process.ended() === undefined && timesReady(process.log) === before)
      throw new Error(`${process.log} does not say that the process is ready`)
  }, readyMs)
  const ended = process.ended()
  if (ended !== undefined) throw new Error(ended)
}

function timesReady(log: string): number {
  return existsSync(log) ? readFileSync(log, 'utf8').split(/^ready/m).length - 1 : 0
}

/** What `isthmus <args>` prints, which does its work and ends. */
export async function runRoleIn(lab: string, place: Place, args: readonly string[]): Promise<string> {
  return (await run(place.command([...command, ...args]), { lab })).trim()
}
