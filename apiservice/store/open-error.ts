export type OpenProblem = 'unwritable' | 'locked' | 'corrupt' | 'newer' | 'foreign'

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
