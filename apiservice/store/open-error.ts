import { errorText } from '../../src/kernel/abort.ts'

export type OpenProblem = 'unwritable' | 'locked' | 'corrupt' | 'newer' | 'foreign' | 'unreachable' | 'old'

/** A store that cannot be opened. The message is one sentence for the person who starts the server. */
export class StoreOpenError extends Error {
  readonly directory: string
  readonly problem: OpenProblem

  constructor(directory: string, problem: OpenProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'StoreOpenError'
    this.directory = directory
    this.problem = problem
  }
}

export function damaged(directory: string, why: string, cause?: unknown): StoreOpenError {
  const message = `the store in ${directory} is damaged and is left as it is: ${why}`
  return new StoreOpenError(directory, 'corrupt', message, cause)
}

/** What LevelDB says when it cannot open or read a database, in a sentence. */
export function openProblem(directory: string, thrown: unknown): StoreOpenError {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'LEVEL_LOCKED') {
    return new StoreOpenError(
      directory,
      'locked',
      `the store in ${directory} is in use by another process`,
      thrown,
    )
  }
  const isFileMissing = /no such file/i.test(errorText(cause))
  if (code === 'LEVEL_CORRUPTION' || isFileMissing) return damaged(directory, errorText(cause), thrown)
  const message = `the store in ${directory} cannot be opened: ${errorText(cause)}`
  return new StoreOpenError(directory, 'unwritable', message, thrown)
}
