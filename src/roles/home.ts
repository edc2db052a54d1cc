import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { errorText } from '../kernel/abort.ts'

/** The folder in which a role keeps its state, made when it is missing. Throws one sentence when it cannot be written. */
export async function openHome(path: string): Promise<string> {
  const home = resolve(path)
  const probe = join(home, `.probe-${randomBytes(4).toString('hex')}`)
  try {
    await makeFolder(home)
    await writeFile(probe, '', { mode: 0o600 })
    await rm(probe)
  } catch (thrown) {
    throw new Error(
      `the home directory ${home} cannot be written: ${errorText(thrown)}; choose another with --home`,
    )
  }
  return home
}

/** Step by step: where a parent refuses new folders with ENOENT (/proc), `recursive` never returns (Node 26.10). */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw thrown
    await makeFolder(dirname(path))
    await mkdir(path, { mode: 0o700 })
  }
}
