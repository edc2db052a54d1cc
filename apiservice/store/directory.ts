import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Not by mkdir's own recursion, which never ends where a parent takes no directories (/proc). */
export async function makeDirectory(directory: string): Promise<void> {
  const made = await makeOne(directory)
  if (made !== 'no parent') return
  await makeDirectory(dirname(directory))
  if ((await makeOne(directory)) === 'no parent')
    throw new Error(`no directory can be made in ${dirname(directory)}`)
}

async function makeOne(directory: string): Promise<'made' | 'there' | 'no parent'> {
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
    if (code === 'EEXIST') return 'there'
    if (code === 'ENOENT') return 'no parent'
    throw thrown
  }
  // A new directory survives a crash only once the one that holds it is synced.
  await syncDirectory(dirname(directory))
  return 'made'
}

/** Makes durable which names it holds. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
