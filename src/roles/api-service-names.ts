import type { AnyKind } from '../api/kind.ts'
import { kinds } from '../api/kinds/index.ts'

/** Of the APIServices that lead to a server of this sort. */
export function apiServiceNames(serves: AnyKind['servers'][number]): readonly string[] {
  const served = kinds.filter(kind => kind.servers.includes(serves))
  return [...new Set(served.flatMap(({ group, versions }) => versions.map(({ name }) => `${name}.${group}`)))]
}
