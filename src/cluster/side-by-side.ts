import type { Cluster, Resource } from './cluster.ts'

export type SideBySideOptions = {
  /** For logs. */
  readonly name: string
  /** Serves these groups, and nothing else. */
  readonly own: Cluster
  readonly groups: ReadonlySet<string>
  /** Serves everything else. */
  readonly rest: Cluster
}

/** Two API servers as one cluster: some groups are asked of one, all others of the other. */
export function sideBySide({ name, own, groups, rest }: SideBySideOptions): Cluster {
  const serverOf = ({ group }: Resource<unknown>): Cluster => (groups.has(group) ? own : rest)
  return {
    name,
    get: (resource, ...more) => serverOf(resource).get(resource, ...more),
    list: (resource, ...more) => serverOf(resource).list(resource, ...more),
    watch: (resource, ...more) => serverOf(resource).watch(resource, ...more),
    create: (resource, ...more) => serverOf(resource).create(resource, ...more),
    replace: (resource, ...more) => serverOf(resource).replace(resource, ...more),
    mergePatch: (resource, ...more) => serverOf(resource).mergePatch(resource, ...more),
    delete: (resource, ...more) => serverOf(resource).delete(resource, ...more),
    deleteCollection: (resource, ...more) => serverOf(resource).deleteCollection(resource, ...more),
    discover: async signal => {
      const [ours, others] = await Promise.all([own.discover(signal), rest.discover(signal)])
      return [...ours, ...others.filter(({ group }) => !groups.has(group))]
    },
  }
}
