import type { DiscoveredResource } from '../cluster/cluster.ts'

export function offers(resource: DiscoveredResource, ...verbs: readonly string[]): boolean {
  return verbs.every(verb => resource.verbs.includes(verb))
}
