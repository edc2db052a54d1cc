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
