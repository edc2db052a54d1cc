import { errorText } from '../src/kernel/abort.ts'

/** Runs a script to its end; what it throws is one line on the standard error, and the exit code 1. */
export async function runScript(main: () => Promise<void>): Promise<void> {
  // What waits in it waits on timers that do not keep a process alive.
  const alive = setInterval(() => undefined, 60_000)
  try {
    await main()
  } catch (thrown) {
    process.stderr.write(`${errorText(thrown)}\n`)
    process.exitCode = 1
  } finally {
    clearInterval(alive)
  }
}
