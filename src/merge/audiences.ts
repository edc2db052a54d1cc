import { type Conflict, type Contribution, conflictReasons, type Merged } from '../contract.ts'
import { merge } from './merge.ts'
import { byteOrder } from './precedence.ts'

/** Clusters that may import the same exports, and what these come to. */
export type Audience = {
  /** Their ids; undefined for all clusters that no other audience names, also those that are still to join. */
  readonly consumers: readonly string[] | undefined
  readonly merged: Merged
}

export type Outcome = {
  /** What all exports together come to. */
  readonly all: Merged
  /** Undefined when every cluster may import every export. */
  readonly audiences: readonly Audience[] | undefined
}

/**
 * What the exports of a service come to for each cluster that may import any of them: a function of the exports alone,
 * never of who is a member. Undefined when no export counts.
 */
export function mergeForAll(exports: readonly Contribution[]): Outcome | undefined {
  const all = merge(exports)
  return all && { all, audiences: audiencesOf(exports) }
}

function audiencesOf(exports: readonly Contribution[]): readonly Audience[] | undefined {
  const restricted = exports.filter(({ consumers }) => consumers !== undefined)
  if (restricted.length === 0) return undefined
  const chosen = new Map(restricted.map(({ cluster, consumers }) => [cluster, new Set(consumers)]))
  // A cluster always imports what it exports itself.
  const isFor = ({ cluster, consumers }: Contribution, id: string): boolean =>
    consumers === undefined || cluster === id || chosen.get(cluster)?.has(id) === true
  const named = new Set(restricted.flatMap(({ cluster, consumers = [] }) => [cluster, ...consumers]))
  const bySight = new Map<string, { readonly ids: string[]; readonly seen: readonly Contribution[] }>()
  for (const id of [...named].sort(byteOrder)) {
    const seen = exports.filter(each => isFor(each, id))
    const sight = seen
      .map(({ cluster }) => cluster)
      .sort(byteOrder)
      .join(' ')
    const group = bySight.get(sight) ?? { ids: [], seen }
    group.ids.push(id)
    bySight.set(sight, group)
  }
  const others = exports.filter(({ consumers }) => consumers === undefined)
  const groups = [...bySight.values(), { ids: undefined, seen: others }]
  return groups.flatMap(({ ids, seen }) => {
    const merged = merge(seen)
    return merged === undefined ? [] : [{ consumers: ids, merged }]
  })
}

/**
 * In what the exports disagree wherever that of a cluster is imported, or anywhere when none is given: whoever competes
 * with others in one audience is told so.
 */
export function conflictsIn({ all, audiences }: Outcome, cluster?: string): readonly Conflict[] {
  if (audiences === undefined) return all.conflicts
  const found = audiences.flatMap(({ merged }) => {
    const isThere = cluster === undefined || merged.clusters.some(each => each.cluster === cluster)
    return isThere ? merged.conflicts : []
  })
  return conflictReasons.flatMap(reason => {
    const messages = found.flatMap(conflict => (conflict.reason === reason ? [conflict.message] : []))
    return messages.length === 0 ? [] : [{ reason, message: [...new Set(messages)].join('; ') }]
  })
}
