// Takes away what a lab left: processes, control groups, its folder. Works without the process that made the lab.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sleep } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { labVariable } from './daemon.ts'
import { labFolders, labsFolder, removeFolder } from './folder.ts'
import { groupProcesses, removeGroups } from './groups.ts'

const rounds = 100

export async function sweep(folder: string): Promise<void> {
  for (let round = 0; ; round += 1) {
    const left = [...new Set([...markedProcesses(folder), ...groupProcesses(folder)])]
    if (left.length === 0) break
    if (round === rounds) throw new Error(`processes ${left.join(' ')} of the lab ${folder} do not end`)
    for (const pid of left) kill(pid)
    await sleep(systemClock, 100, AbortSignal.timeout(5_000))
  }
  await removeGroups(folder)
  removeFolder(folder)
}

/** The folders of labs: those that are there, and those that are gone but have processes left. */
export function labsLeft(): readonly string[] {
  const marker = `${labVariable}=${labsFolder()}/`
  const marked = processes()
    .flatMap(environmentOf)
    .filter(entry => entry.startsWith(marker))
    .map(entry => entry.slice(labVariable.length + 1))
  return [...new Set([...labFolders(), ...marked])]
}

/** Every process that was started for the lab, and all that they started: the environment tells. */
function markedProcesses(folder: string): readonly number[] {
  const marker = `${labVariable}=${folder}`
  return processes().filter(pid => pid !== process.pid && environmentOf(pid).includes(marker))
}

function processes(): readonly number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
}

/** Nothing for processes of others, and for those that have ended. */
function environmentOf(pid: number): readonly string[] {
  const file = join('/proc', String(pid), 'environ')
  try {
    return existsSync(file) ? readFileSync(file, 'utf8').split('\0') : []
  } catch {
    // It ended while it was read, or belongs to someone else.
    return []
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
