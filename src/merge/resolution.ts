import type { ExportedPort } from '../api/kinds/exported-service.ts'
import type { Contribution } from '../contract.ts'
import type { Family } from '../ip/address.ts'
import { mergeFamilies } from './families.ts'
import { mergePorts } from './ports.ts'
import { precedence } from './precedence.ts'

/** The part of a contribution that a resolution needs. */
export type Ranked = Pick<Contribution, 'cluster' | 'createdMs' | 'acceptedMs' | 'service'>

/** What is used of exports that count. */
export type Resolution<C extends Ranked> = {
  /** Oldest first: of all that one export has to decide, the first decides. */
  readonly contributions: readonly [C, ...C[]]
  readonly ports: readonly ExportedPort[]
  readonly families: readonly Family[]
}

/** Their order does not matter. Undefined when there are none. */
export function resolve<C extends Ranked>(exports: readonly C[]): Resolution<C> | undefined {
  const [oldest, ...younger] = [...exports].sort(precedence)
  if (oldest === undefined) return undefined
  const contributions = [oldest, ...younger] as const
  return {
    contributions,
    ports: mergePorts(contributions.map(c => c.service.ports)),
    families: mergeFamilies(contributions.map(c => c.service.ipFamilies)),
  }
}
