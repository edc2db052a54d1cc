import type { KubeObject } from '../api/meta.ts'
import type { Cluster, DiscoveredResource, Resource } from '../cluster/cluster.ts'
import { errorText } from '../kernel/abort.ts'
import { isReason } from '../kernel/errors.ts'
import { offers } from './deletable.ts'

/** What stays of one resource, with the finalizers of all its objects. */
type Remainder = {
  readonly resource: string
  readonly count: number
  readonly finalizers: readonly string[]
}

export type NamespaceContent = {
  /** Why it is not known what could be in the namespace. */
  readonly discovery: string | undefined
  /** Why something could not be deleted. */
  readonly failures: readonly string[]
  readonly left: readonly Remainder[]
}

/** Deletes everything in a namespace and tells what stays. What fails for one resource does not keep the others. */
export async function deleteContent(
  cluster: Cluster,
  namespace: string,
  signal: AbortSignal,
): Promise<NamespaceContent> {
  const discovered = await discover(cluster, signal)
  if (typeof discovered === 'string') return { discovery: discovered, failures: [], left: [] }
  const failures: string[] = []
  const left: Remainder[] = []
  for (const each of discovered) {
    if (!each.namespaced || !offers(each, 'delete', 'list')) continue
    const resource = `${each.plural}.${each.group}`
    try {
      const items = await deleteAll(cluster, each, namespace, signal)
      const finalizers = items.flatMap(item => item.metadata.finalizers ?? [])
      if (items.length > 0) left.push({ resource, count: items.length, finalizers })
    } catch (thrown) {
      signal.throwIfAborted()
      failures.push(`${resource}: ${errorText(thrown)}`)
    }
  }
  return { discovery: undefined, failures, left }
}

async function discover(
  cluster: Cluster,
  signal: AbortSignal,
): Promise<readonly DiscoveredResource[] | string> {
  try {
    return await cluster.discover(signal)
  } catch (thrown) {
    signal.throwIfAborted()
    return errorText(thrown)
  }
}

/** The objects that are still there afterwards. */
async function deleteAll(
  cluster: Cluster,
  discovered: DiscoveredResource,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  if (
    offers(discovered, 'deletecollection') &&
    (await deletedTogether(cluster, discovered, namespace, signal))
  ) {
    return (await cluster.list(discovered, { namespace }, signal)).items
  }
  const { items } = await cluster.list(discovered, { namespace }, signal)
  for (const { metadata } of items)
    await deleteOne(cluster, discovered, { namespace, name: metadata.name }, signal)
  return items.length === 0 ? [] : (await cluster.list(discovered, { namespace }, signal)).items
}

/** False when the server does not do that for this resource. */
async function deletedTogether(
  cluster: Cluster,
  resource: Resource,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await cluster.deleteCollection(resource, { namespace }, signal)
    return true
  } catch (thrown) {
    if (isReason(thrown, 'NotFound', 'MethodNotAllowed')) return false
    throw thrown
  }
}

async function deleteOne(
  cluster: Cluster,
  resource: Resource,
  ref: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  try {
    await cluster.delete(resource, ref, { propagationPolicy: 'Background', signal })
  } catch (thrown) {
    if (!isReason(thrown, 'NotFound', 'MethodNotAllowed')) throw thrown
  }
}
