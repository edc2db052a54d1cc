import { copyFile, link, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../src/kernel/errors.ts'
import { openDatabase } from './level-log.ts'
import { openProblem } from './open-error.ts'

/** Written once and only removed: a second name is as good as a copy. The lock is that of the original. */
const shared = /\.(ldb|sst)$|^LOCK$/
/** What LevelDB tells about itself, and what somebody was about to write. */
const unneeded = /^LOG(\.old)?$|\.(new|dbtmp)$/

/**
 * Gives `use` a copy of the files of a store, beside it, since LevelDB changes files when it opens them. Who opens the
 * copy takes the lock of the original, and is refused where a server has it.
 */
export async function withCopy<T>(directory: string, use: (copy: string) => Promise<T>): Promise<T> {
  await requireUnused(directory)
  const names = await readdir(directory)
  const copy = await mkdtemp(`${directory}.copy-`)
  try {
    for (const name of names.filter(one => !unneeded.test(one))) {
      const [from, to] = [join(directory, name), join(copy, name)]
      await (shared.test(name) ? linkOrCopy(from, to) : copyFile(from, to))
    }
    return await use(copy)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/** Takes the lock for a moment, by opening a database that has nothing but it. */
async function requireUnused(directory: string): Promise<void> {
  const empty = await mkdtemp(`${directory}.lock-`)
  try {
    await linkOrCopy(join(directory, 'LOCK'), join(empty, 'LOCK'))
    const db = openDatabase(empty)
    await db.open()
    await db.close()
  } catch (thrown) {
    throw openProblem(directory, thrown)
  } finally {
    await rm(empty, { recursive: true, force: true })
  }
}

/** Some file systems have no second names; then nobody can tell whether a server runs. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (thrown) {
    if (isMissing(thrown)) return
    await copyFile(from, to)
  }
}
