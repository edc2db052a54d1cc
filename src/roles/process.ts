/** The process that a role runs in: its log, its signals, its end. */
import { relative } from 'node:path'
import { errorText } from '../kernel/abort.ts'
import { systemClock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { jsonLogger, type LogLevel } from '../telemetry/logger.ts'
import type { Running } from './context.ts'
import { processMemory } from './process-memory.ts'
import { returnMemory } from './quiet-memory.ts'

export type Start = (log: Logger, signal: AbortSignal) => Promise<Running>

const forcedExit = 130
/** A start that does not end at the signal and cannot be closed. */
const stopStartWithinMs = 10_000

/**
 * Runs until SIGTERM or SIGINT, then closes in good order; a second signal ends at once. A signal while it starts lets it
 * start no further. Rejects when it cannot start.
 */
export async function runUntilStopped(logLevel: LogLevel, start: Start): Promise<void> {
  const log = jsonLogger({ level: logLevel, clock: systemClock })
  const stop = new AbortController()
  const stopped = new Promise<void>(resolve => {
    const onSignal = (name: NodeJS.Signals): void => {
      if (stop.signal.aborted) process.exit(forcedExit)
      log.info('stopping', { signal: name })
      stop.abort(new Error(`stopped by ${name}`))
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
  process.on('uncaughtException', (error: unknown) => die(log, error))
  const running = await startUnlessStopped(log, stop.signal, start)
  returnMemory(processMemory(), systemClock, stop.signal)
  await stopped
  await running?.close()
  log.info('stopped')
}

/** Undefined when it was stopped before it was done; rejects when it does not stop then. */
async function startUnlessStopped(
  log: Logger,
  signal: AbortSignal,
  start: Start,
): Promise<Running | undefined> {
  const late = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => {
    const giveUp = (): void => late.reject(new Error('the start did not stop in time and is given up'))
    systemClock.after(stopStartWithinMs, giveUp)
  })
  late.promise.catch(() => undefined)
  const started = start(log, signal).catch((thrown: unknown) => {
    if (!signal.aborted) throw thrown
    return undefined
  })
  return Promise.race([started, late.promise])
}

/** The line that tells people and scripts that everything answers, with what to do next. */
export function announce(next: string): void {
  process.stdout.write(`ready: ${next}\n`)
}

/** How this program was called, to call it again: `isthmus`, or `node` with its path from the working directory. */
export function programName([, script = '']: readonly string[]): string {
  if (!script.endsWith('.ts')) return 'isthmus'
  const path = relative(process.cwd(), script)
  return `node ${path.startsWith('..') ? script : path}`
}

/** What nobody caught has left something half done: better start again from what is stored. */
function die(log: Logger, error: unknown): void {
  const stack = error instanceof Error ? error.stack : undefined
  log.error('unexpected error, the process ends', { error: errorText(error), stack })
  process.exit(1)
}

const longMs = 60_000

/** Runs the program; a failure becomes one sentence on the standard error and exit code 1. */
export async function runProgram(program: () => Promise<unknown>): Promise<void> {
  // The timers of the clock do not keep a process: without this one, a command that only waits would end as if done.
  const alive = setInterval(() => undefined, longMs)
  try {
    await program()
    process.exitCode = 0
  } catch (thrown) {
    process.stderr.write(`isthmus: ${errorText(thrown).trim()}\n`)
    // Whatever a start that failed half-way has left open does not keep the process.
    process.exit(1)
  } finally {
    clearInterval(alive)
  }
}
