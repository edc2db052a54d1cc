/**
 * A fault that the tests of a line have to find. `npm run defects` puts each into a copy of the tree, runs what the table
 * of API conventions names for its line, and demands red.
 */
export type Defect = {
  readonly line: number
  /** What the server does wrong with it. */
  readonly what: string
  readonly file: string
  /** Occurs once in the file. */
  readonly find: string
  readonly replace: string
}
