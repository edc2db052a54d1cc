import { shortHash } from '../kernel/short-hash.ts'

type StringMap = Readonly<Record<string, string>>

/** Exported labels or annotations; equal maps have equal texts. */
export function mapText(map: StringMap): string {
  const sorted = Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(Object.fromEntries(sorted))
}

/** Tells whether two maps are equal where there is no room for the maps. */
export function mapDigest(map: StringMap): string {
  return shortHash(mapText(map))
}
