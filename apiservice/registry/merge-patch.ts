/** JSON Merge Patch (RFC 7386). */
import { copyOf, entryOf, isRecord, type JsonRecord, setEntry } from '../../src/api/record.ts'

/** The target with the patch merged in: null removes, objects merge, all else replaces. Changes neither. */
export function mergePatch(target: unknown, patch: JsonRecord): JsonRecord {
  const merged: Record<string, unknown> = isRecord(target) ? copyOf(target) : {}
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === null) delete merged[key]
    else setEntry(merged, key, isRecord(value) ? mergePatch(entryOf(merged, key), value) : value)
  }
  return merged
}
