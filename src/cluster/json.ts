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
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a).filter(key => a[key] !== undefined)
  const others = Object.keys(b).filter(key => b[key] !== undefined)
  return (
    keys.length === others.length && keys.every(key => Object.hasOwn(b, key) && equalJson(a[key], b[key]))
  )
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
