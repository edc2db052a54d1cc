/** A cluster for what a leader does: nothing is written by it any more when its term is over. */
import { isTermOver } from '../api/write-guard.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Term } from './election.ts'

/** `cluster` sends the guard of the term with its requests; a write that is refused for it ends the term. */
export function clusterOfTerm(cluster: Cluster, term: Pick<Term, 'check' | 'end'>): Cluster {
  const written = async <R>(write: () => Promise<R>): Promise<R> => {
    term.check()
    try {
      return await write()
    } catch (thrown) {
      if (isTermOver(thrown)) term.end('another term has begun')
      throw thrown
    }
  }
  return {
    name: cluster.name,
    get: (resource, ref, signal) => cluster.get(resource, ref, signal),
    list: (resource, selection, signal) => cluster.list(resource, selection, signal),
    watch: (resource, selection, signal) => cluster.watch(resource, selection, signal),
    discover: signal => cluster.discover(signal),
    create: (resource, object, signal) => written(() => cluster.create(resource, object, signal)),
    replace: (resource, object, options, signal) =>
      written(() => cluster.replace(resource, object, options, signal)),
    mergePatch: (resource, ref, patch, options) =>
      written(() => cluster.mergePatch(resource, ref, patch, options)),
    delete: (resource, ref, options) => written(() => cluster.delete(resource, ref, options)),
    deleteCollection: (resource, selection, signal) =>
      written(() => cluster.deleteCollection(resource, selection, signal)),
  }
}
