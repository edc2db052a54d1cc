import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../src/kernel/errors.ts'
import type { Revision } from '../store-contract.ts'
import { syncDirectory } from './directory.ts'
import { openProblem } from './open-error.ts'

const name = 'REVISION'

/** Decimal digits of the greatest revision: all lines are of one length, so that one takes the place of another. */
const digits = 16
const lineLength = digits + 1

/** Up to where records were durable when it was written; undefined when there is no such file. */
export async function readReached(directory: string): Promise<Revision | undefined> {
  const line = await readLine(directory)
  return line === undefined ? undefined : Number(line)
}

async function readLine(directory: string): Promise<string | undefined> {
  let text: string
  try {
    text = await readFile(join(directory, name), 'utf8')
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw thrown
  }
  if (!/^\d{1,16}\n$/.test(text)) throw new Error(`its file ${name} cannot be read`)
  return text
}

/** Replaces the file in one step: whenever the power goes, there is the old one or the new one. */
export async function writeReached(directory: string, revision: Revision): Promise<void> {
  const next = join(directory, `${name}.new`)
  const file = await open(next, 'w', 0o600)
  try {
    await file.writeFile(lineOf(revision))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(next, join(directory, name))
  await syncDirectory(directory)
}

function lineOf(revision: Revision): Buffer {
  return Buffer.from(`${revision}`.padStart(digits, '0').concat('\n'))
}

/**
 * The file of a store that is open, written over in place after each commit: a line is within one sector, which a disk
 * writes as a whole. It may be behind the records and is never before them.
 */
export class ReachedFile {
  /** What it said when it was opened. */
  readonly atOpen: Revision
  readonly #file: FileHandle
  #wanted: Revision
  #written: Revision
  #writing: Promise<void> | undefined

  private constructor(file: FileHandle, atOpen: Revision) {
    this.#file = file
    this.atOpen = atOpen
    this.#wanted = atOpen
    this.#written = atOpen
  }

  static async open(directory: string): Promise<ReachedFile> {
    const line = await readLine(directory)
    const reached = Number(line ?? 0)
    try {
      // Older releases wrote no more digits than there were.
      if (line?.length !== lineLength) await writeReached(directory, reached)
      return new ReachedFile(await open(join(directory, name), 'r+'), reached)
    } catch (thrown) {
      // A full disk is no damage.
      throw openProblem(directory, thrown)
    }
  }

  /** For records that are durable. What is written outlives the process; a later call tries again what failed. */
  note(revision: Revision): void {
    this.#begin(revision).catch(() => undefined)
  }

  /** What is written outlives a loss of power. */
  async sync(revision: Revision): Promise<void> {
    await this.#begin(revision)
    await this.#file.datasync()
  }

  async close(): Promise<void> {
    await this.#writing?.catch(() => undefined)
    await this.#file.close()
  }

  #begin(revision: Revision): Promise<void> {
    this.#wanted = Math.max(this.#wanted, revision)
    if (this.#written === this.#wanted) return Promise.resolve()
    this.#writing ??= this.#write()
    return this.#writing
  }

  async #write(): Promise<void> {
    try {
      while (this.#written < this.#wanted) {
        const revision = this.#wanted
        await this.#file.write(lineOf(revision), 0, lineLength, 0)
        this.#written = revision
      }
    } finally {
      this.#writing = undefined
    }
  }
}
