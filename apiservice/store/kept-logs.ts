/**
 * LevelDB turns its write-ahead logs into tables when it opens, leaves out what it finds damaged, and removes them. So each
 * gets a second name before, which is taken away only when the store was found whole: a repair has more to read from.
 */
import { link, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

const ending = '.kept'
const isLog = /^\d+\.log$/
const isKept = /^\d+\.log\.kept$/

/** Does without where the file system knows no second names, or has no directory yet. */
export async function keepLogs(directory: string): Promise<void> {
  const names = await namesOf(directory, isLog).catch(() => [])
  const links = names.map(name => link(join(directory, name), join(directory, `${name}${ending}`)))
  await Promise.allSettled(links)
}

export async function forgetLogs(directory: string): Promise<void> {
  for (const name of await namesOf(directory, isKept)) await rm(join(directory, name), { force: true })
}

/** Gives what was kept its own name again. */
export async function bringLogsBack(directory: string): Promise<void> {
  for (const name of await namesOf(directory, isKept)) {
    await rename(join(directory, name), join(directory, name.slice(0, -ending.length)))
  }
}

async function namesOf(directory: string, pattern: RegExp): Promise<readonly string[]> {
  return (await readdir(directory)).filter(name => pattern.test(name))
}
