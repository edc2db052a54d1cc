/** Bounded, plain values only: never whole objects, secrets or bodies. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * A structured log. Messages are constant and lower case; what varies goes into fields.
 * error: a human must look. warn: something failed and we recovered. info: state changed. debug: why.
 */
export interface Logger {
  error(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  child(fields: LogFields): Logger
}

export type LogLine = {
  readonly level: 'error' | 'warn' | 'info' | 'debug'
  readonly message: string
  readonly fields: LogFields
}

/** Keeps its lines in memory, for tests. */
export function memoryLogger(
  lines: LogLine[] = [],
  bound: LogFields = {},
): Logger & { readonly lines: readonly LogLine[] } {
  const at =
    (level: LogLine['level']) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields: { ...bound, ...fields } })
    }
  return {
    lines,
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: fields => memoryLogger(lines, { ...bound, ...fields }),
  }
}

/** Drops everything. */
export const silentLogger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => silentLogger,
}
