/** JSON Merge Patch (RFC 7386). */
import { isRecord, type JsonRecord } from '../../src/api/record.ts'

/** The target with the patch merged in: null removes, objects merge, all else replaces. Changes neither. */
export function mergePatch(target: unknown, patch: JsonRecord): JsonRecord {
  const merged = new Map(isRecord(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, isRecord(value) ? mergePatch(merged.get(key), value) : value)
  }
  return Object.fromEntries(merged)
}
