import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../src/kernel/errors.ts'
import type { Revision } from '../store-contract.ts'
import { syncDirectory } from './directory.ts'

const name = 'REVISION'

/** Up to where records were durable when it was written; undefined when there is no such file. */
export async function readReached(directory: string): Promise<Revision | undefined> {
  let text: string
  try {
    text = await readFile(join(directory, name), 'utf8')
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw thrown
  }
  if (!/^\d{1,16}\n$/.test(text)) throw new Error(`its file ${name} cannot be read`)
  return Number(text)
}

/** Replaces the file in one step: whenever the power goes, there is the old one or the new one. */
export async function writeReached(directory: string, revision: Revision): Promise<void> {
  const next = join(directory, `${name}.new`)
  const file = await open(next, 'w', 0o600)
  try {
    await file.writeFile(`${revision}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(next, join(directory, name))
  await syncDirectory(directory)
}
