/** The two operations on plain JSON values that objects of the API need. */

type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether two JSON values are the same; the order of keys does not count. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => equalJson(item, b[at]))
  }
  return isJsonObject(a) && isJsonObject(b) && equalObjects(a, b)
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  let surplus = 0
  for (const key of Object.keys(a)) {
    const value = a[key]
    if (value === undefined) continue
    if (!Object.hasOwn(b, key) || !equalJson(value, b[key])) return false
    surplus -= 1
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined) surplus += 1
  return surplus === 0
}

/** `target` with a merge patch applied (RFC 7386): null removes, objects merge, all else replaces. */
export function mergedJson(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const merged = new Map(isJsonObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergedJson(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}
