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
export async function keepLogs(directory: string): Promise<{ readonly forget: () => Promise<void> }> {
  const names = await namesOf(directory, isLog).catch(() => [])
  const made: string[] = []
  const keep = async (name: string): Promise<void> => {
    const second = join(directory, `${name}${ending}`)
    await link(join(directory, name), second)
    made.push(second)
  }
  await Promise.allSettled(names.map(keep))
  return {
    forget: async () => {
      for (const second of made) await rm(second, { force: true })
    },
  }
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
