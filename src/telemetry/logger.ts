import { type DestinationStream, type Logger as Pino, pino } from 'pino'
import type { Clock } from '../kernel/clock.ts'
import { toMicroTime } from '../kernel/clock.ts'
import type { LogFields, Logger } from '../kernel/log.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export type LoggerOptions = {
  readonly level: LogLevel
  readonly clock: Clock
  /** Where lines go; the standard error unless told. */
  readonly destination?: DestinationStream
}

/** One JSON object a line: `time`, `level`, `message` and the fields. */
export function jsonLogger({ level, clock, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    messageKey: 'message',
    timestamp: () => `,"time":"${toMicroTime(clock.now())}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return wrapped(pino(options, destination ?? pino.destination({ fd: 2, sync: true })))
}

/** pino would write a key that is bound or given once more a second time. */
function wrapped(root: Pino, bound: LogFields = {}): Logger {
  const inner = root.child(bound)
  const at =
    (level: 'error' | 'warn' | 'info' | 'debug') =>
    (message: string, fields: LogFields = {}): void => {
      if (!root.isLevelEnabled(level)) return
      const overrides = Object.keys(fields).some(key => Object.hasOwn(bound, key))
      if (overrides) root[level]({ ...bound, ...fields }, message)
      else inner[level](fields, message)
    }
  return {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: fields => wrapped(root, { ...bound, ...fields }),
  }
}
