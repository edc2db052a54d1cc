/**
 * What a server without a kube-apiserver underneath has from its first start: the namespaces of every cluster and the
 * roles that people know. Running it again changes nothing.
 */
import { ClusterRoleKind } from '../api/kinds/cluster-role.ts'
import { ClusterRoleBindingKind } from '../api/kinds/cluster-role-binding.ts'
import { type Namespace, NamespaceKind } from '../api/kinds/namespace.ts'
import type { KubeObject } from '../api/meta.ts'
import { type Cluster, type Resource, resource } from '../cluster/cluster.ts'
import { conflict, isReason } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'

export type BootstrapOptions = {
  readonly cluster: Cluster
  /** ClusterRoles and ClusterRoleBindings, in the order in which they are created. */
  readonly policy: readonly KubeObject[]
  readonly log: Logger
}

const namespaces = resource(NamespaceKind)
const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

const policyResources: ReadonlyMap<string, Resource> = new Map<string, Resource>([
  [ClusterRoleKind.kind, resource(ClusterRoleKind)],
  [ClusterRoleBindingKind.kind, resource(ClusterRoleBindingKind)],
])

const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate'
const maxAttempts = 5

/** Throws what the server says when something cannot be created. */
export async function bootstrap(options: BootstrapOptions, signal: AbortSignal): Promise<void> {
  let created = await ensure(options, namespaces, systemNamespaces.map(namespaceNamed), signal)
  for (const object of options.policy) {
    const { kind, metadata } = object
    if (!policyResources.has(kind)) throw new Error(`${kind} ${metadata.name} is no part of a policy`)
  }
  // Roles first, so that no binding is ever there without its role.
  for (const [kind, of] of policyResources) {
    created += await ensure(
      options,
      of,
      options.policy.filter(object => object.kind === kind),
      signal,
    )
  }
  if (created > 0) options.log.info('created what a cluster has from the start', { objects: created })
}

function namespaceNamed(name: string): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

/** What is missing is made at once: the writes share their sync. Answers how many that were. */
async function ensure<O extends KubeObject>(
  { cluster, log }: BootstrapOptions,
  of: Resource<O>,
  wanted: readonly O[],
  signal: AbortSignal,
): Promise<number> {
  const { items } = await cluster.list(of, {}, signal)
  const found = new Map(items.map(item => [item.metadata.name, item]))
  const created = await Promise.all(
    wanted.map(async object => {
      const { name } = object.metadata
      const there = found.get(name)
      if (there !== undefined) await restore(cluster, { of, wanted: object, found: there }, signal)
      else if (await createMissing(cluster, of, object, signal)) {
        log.debug('created', { kind: of.kind, name })
        return true
      }
      return false
    }),
  )
  return created.filter(Boolean).length
}

async function createMissing<O>(
  cluster: Cluster,
  of: Resource<O>,
  object: O,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await cluster.create(of, object, signal)
    return true
  } catch (thrown) {
    if (isReason(thrown, 'AlreadyExists')) return false
    throw thrown
  }
}

/**
 * Adds what a later release grants, or somebody took away; what was added stays. As in Kubernetes an annotation on the
 * object turns this off.
 */
async function restore<O extends KubeObject>(
  cluster: Cluster,
  { of, wanted, found }: { readonly of: Resource<O>; readonly wanted: O; readonly found: O },
  signal: AbortSignal,
): Promise<void> {
  const ref = { name: wanted.metadata.name }
  let current = found
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const patch = additions(current, wanted)
    const isOff = current.metadata.annotations?.[autoUpdate] === 'false'
    if (isOff || Object.keys(patch).length === 0) return
    const { resourceVersion } = current.metadata
    try {
      await cluster.mergePatch(of, ref, { ...patch, metadata: { resourceVersion } }, { signal })
      return
    } catch (thrown) {
      if (!isReason(thrown, 'Conflict')) throw thrown
    }
    current = await cluster.get(of, ref, signal)
  }
  throw conflict({ group: of.group, resource: of.plural }, ref.name)
}

/** Each list of `wanted` that lacks something in `found`, with what it lacks added. */
function additions(found: KubeObject, wanted: KubeObject): Readonly<Record<string, unknown>> {
  const lists = ['rules', 'subjects'] as const
  return Object.fromEntries(
    lists.flatMap(field => {
      const there = itemsOf(found[field])
      const known = new Set(there.map(canonical))
      const missing = itemsOf(wanted[field]).filter(item => !known.has(canonical(item)))
      return missing.length === 0 ? [] : [[field, [...there, ...missing]]]
    }),
  )
}

function itemsOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : []
}

/** Rules and subjects are flat: the order of their fields and of the values in them means nothing. */
function canonical(item: unknown): string {
  const fields = Object.entries(Object(item)).map(([name, value]): readonly [string, unknown] => [
    name,
    Array.isArray(value) ? value.toSorted() : value,
  ])
  return JSON.stringify(fields.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
