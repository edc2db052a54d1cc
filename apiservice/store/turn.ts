/** Resolves in a later turn of the event loop, after the input that is already there has been read. */
export function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
