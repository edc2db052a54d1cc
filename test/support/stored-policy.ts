import { RbacAuthorizer } from '../../apiservice/authz/rbac.ts'
import { followStore } from '../../apiservice/store/follow.ts'
import { openMemoryStore } from '../../apiservice/store/memory-store.ts'
import type { ObjectKey, Store } from '../../apiservice/store-contract.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { encodeBody } from '../../src/codec/object-bytes.ts'
import { never } from '../../src/kernel/abort.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { manualClock, settled } from './manual-clock.ts'

const apiVersion = 'rbac.authorization.k8s.io/v1'
const clock = manualClock()

type Rules = readonly Readonly<Record<string, readonly string[]>>[]

export function aRole(path: string, rules: Rules, more: Readonly<Record<string, unknown>> = {}): KubeObject {
  const [namespace, name] = path.includes('/') ? path.split('/') : [undefined, path]
  return {
    apiVersion,
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: { ...(namespace === undefined ? {} : { namespace }), name: name ?? '' },
    rules,
    ...more,
  }
}

/** `subjects` as `User:ada`, `Group:ops`, `ServiceAccount:shop/web`; `role` as `Role/edit` or `ClusterRole/edit`. */
export function aBinding(path: string, role: string, ...subjects: readonly string[]): KubeObject {
  const [namespace, name] = path.includes('/') ? path.split('/') : [undefined, path]
  const [kind, roleName] = role.split('/')
  return {
    apiVersion,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { ...(namespace === undefined ? {} : { namespace }), name: name ?? '' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: roleName },
    subjects: subjects.map(subjectOf),
  }
}

function subjectOf(text: string): Readonly<Record<string, string>> {
  const at = text.indexOf(':')
  const kind = text.slice(0, at)
  const name = text.slice(at + 1)
  if (kind !== 'ServiceAccount') return { kind, name, apiGroup: 'rbac.authorization.k8s.io' }
  const slash = name.indexOf('/')
  return slash < 0 ? { kind, name } : { kind, name: name.slice(slash + 1), namespace: name.slice(0, slash) }
}

function keyOf(object: KubeObject): ObjectKey {
  const { namespace = '', name } = object.metadata
  return { resource: `${object.kind.toLowerCase()}s.rbac.authorization.k8s.io`, namespace, name }
}

/** An authorizer over a store that holds these objects; `put` and `remove` resolve when it knows. */
export async function aStoredPolicy(objects: readonly KubeObject[]) {
  const store: Store = await openMemoryStore({ clock, log: silentLogger, metrics: noMetrics })
  const rbac = new RbacAuthorizer()
  const put = async (object: KubeObject): Promise<void> => {
    const key = keyOf(object)
    const old = await store.get(key)
    const body = encodeBody(object)
    await (old === undefined ? store.create(key, body) : store.update(key, old.revision, body))
    await settled()
  }
  const remove = async (object: KubeObject): Promise<void> => {
    const old = await store.get(keyOf(object))
    await store.delete(keyOf(object), old?.revision ?? 0)
    await settled()
  }
  for (const object of objects) await put(object)
  await rbac.start(followStore(store, { clock, log: silentLogger }), never)
  return { rbac, store, put, remove }
}
