/** Cluster roles that add our kinds to the roles that users of a cluster have (mcs-api, KEP-1645 §RBAC). */
import type { AnyKind } from '../kind.ts'
import type { PolicyRule } from '../rbac/schema.ts'
import { subresourcesOf, verbsOf } from './discovery.ts'

export type AggregatedRole = {
  readonly apiVersion: 'rbac.authorization.k8s.io/v1'
  readonly kind: 'ClusterRole'
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly rules: readonly PolicyRule[]
}

const reading = ['get', 'list', 'watch']

/** One role that is part of view, edit and admin, and one that is part of edit and admin. */
export function aggregatedRoles(kinds: readonly AnyKind[]): readonly AggregatedRole[] {
  const readable = kinds.filter(k => k.aggregate !== undefined)
  const writable = kinds.filter(k => k.aggregate === 'edit')
  return [
    role('isthmus:aggregate-to-view', ['view', 'edit', 'admin'], readable.map(readRule)),
    role('isthmus:aggregate-to-edit', ['edit', 'admin'], writable.map(writeRule)),
  ]
}

function role(name: string, into: readonly string[], rules: readonly PolicyRule[]): AggregatedRole {
  const labels = into.map(to => [`rbac.authorization.k8s.io/aggregate-to-${to}`, 'true'] as const)
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: Object.fromEntries(labels) },
    rules,
  }
}

/** Subresources are seen by whoever sees the object; they are written by controllers only. */
function readRule(kind: AnyKind): PolicyRule {
  const subresources = subresourcesOf(kind)
    .filter(sub => sub.verbs.includes('get'))
    .map(sub => `${kind.plural}/${sub.name}`)
  return { apiGroups: [kind.group], resources: [kind.plural, ...subresources], verbs: reading }
}

function writeRule(kind: AnyKind): PolicyRule {
  return {
    apiGroups: [kind.group],
    resources: [kind.plural],
    verbs: verbsOf(kind).filter(verb => !reading.includes(verb)),
  }
}
