import { StoreOpenError } from '../open-error.ts'

/** Before these, etcd may tell progress that a watch has not made, and reads would miss what was answered. */
const firstSound: ReadonlyMap<string, number> = new Map([
  ['3.4', 31],
  ['3.5', 13],
])

/** Throws `StoreOpenError` for a release of etcd that is too old. */
export function requireRelease(version: string, place: string): void {
  const [, major = 0, minor = 0, patch = 0] = (/^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  const least = firstSound.get(`${major}.${minor}`)
  const isSound = least === undefined ? major > 3 || (major === 3 && minor > 5) : patch >= least
  if (isSound) return
  const message = `the etcd of ${place} is of release ${version}: 3.5.13 or a later one is needed, or 3.4.31`
  throw new StoreOpenError(place, 'old', message)
}
