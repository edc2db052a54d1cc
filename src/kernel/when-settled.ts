/**
 * What comes after a wait, and after its failure; at once when there is nothing to wait for. What `done` throws is not
 * told to `failed`.
 */
export function whenSettled<T, R>(
  start: () => T | Promise<T>,
  done: (value: T) => R,
  failed: (thrown: unknown) => R,
): R | Promise<R> {
  let value: T | Promise<T>
  try {
    value = start()
  } catch (thrown) {
    return failed(thrown)
  }
  return value instanceof Promise ? value.then(done, failed) : done(value)
}

/** What `then` does with a value, and at once when there is nothing to wait for. */
export function andThen<T, R>(value: T | Promise<T>, done: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(done) : done(value)
}

/** What `catch` does around a wait, and at once when there is nothing to wait for. */
export function unlessFailed<T>(
  start: () => T | Promise<T>,
  failed: (thrown: unknown) => never,
): T | Promise<T> {
  try {
    const value = start()
    return value instanceof Promise ? value.catch(failed) : value
  } catch (thrown) {
    return failed(thrown)
  }
}
