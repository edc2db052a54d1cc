/** What the compiled forms of a schema share. */
import type { FieldError } from '../../kernel/field-error.ts'
import { pathText } from '../field-path.ts'
import { isRecord, type JsonRecord } from '../record.ts'
import type { JsonSchema } from '../schema.ts'

/** More than this is not collected: whoever sends a thousand faults needs to see only some. */
export const maxFaults = 100

/** A walk over one object: where it is, and what it found. One is made for each walk. */
export class Walk {
  readonly path: (string | number)[] = []
  readonly errors: FieldError[] = []
  /** How many segments of the path the texts of errors leave out. */
  hidden = 0

  at(): string {
    return this.path.length === 0 ? '<nil>' : pathText(this.path)
  }

  /** The place as texts name it. */
  inBody(): string {
    return `${pathText(this.path, this.hidden)} in body`
  }

  report(error: FieldError): void {
    if (this.errors.length < maxFaults) this.errors.push(error)
  }
}

export function isOpen(schema: JsonSchema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true
}

/** Whether a record that is known to be good has this very value under a name. */
export function isProven(proven: JsonRecord | undefined, name: string, value: unknown): boolean {
  return proven !== undefined && proven[name] === value
}

/** Undefined: the record is to be without it. */
export function putOrDrop(record: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) delete record[name]
  else record[name] = value
}

/** What a record that is known to be good has under a name, to compare by parts. */
export function partOf(proven: JsonRecord | undefined, name: string): JsonRecord | undefined {
  const part = proven?.[name]
  return isRecord(part) ? part : undefined
}
