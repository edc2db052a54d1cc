/** A JSON object of any shape. */
export type JsonRecord = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A copy without these fields; safe for `__proto__`. */
export function without(record: JsonRecord, names: ReadonlySet<string>): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)))
}
