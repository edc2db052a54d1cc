/**
 * Empties namespaces that are being deleted, as kube-controller-manager does: deletes what is in them, says on their
 * status what is left, and takes away the finalizer when nothing is.
 */
import { type Namespace, NamespaceKind } from '../api/kinds/namespace.ts'
import { type Cluster, resource } from '../cluster/cluster.ts'
import { startInformer } from '../cluster/informer.ts'
import type { Clock } from '../kernel/clock.ts'
import { isReason } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import { WorkQueue } from '../kernel/work-queue.ts'
import { conditionsOf } from './namespace-conditions.ts'
import { deleteContent } from './namespace-content.ts'

export type NamespaceDeletionOptions = {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly log: Logger
}

const namespaces = resource(NamespaceKind)
const contentFinalizer = 'kubernetes'
/** How soon a namespace is looked at again while its content waits for somebody's finalizers. */
const firstWaitMs = 250
const maxWaitMs = 15_000

/** Runs until the signal aborts. Resolves when it has seen all namespaces once. */
export async function startNamespaceDeletion(
  options: NamespaceDeletionOptions,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, clock, log } = options
  const waits = new Map<string, number>()
  const timing = { concurrency: 4, firstBackoffMs: firstWaitMs, maxBackoffMs: maxWaitMs }
  const queue = new WorkQueue(
    { name: 'namespace deletion', clock, log, ...timing },
    async (name, inner) => {
      const waitMs = waits.get(name) ?? firstWaitMs
      waits.delete(name)
      if (await emptyNamespace(options, name, inner)) return
      waits.set(name, Math.min(waitMs * 2, maxWaitMs))
      queue.addAfter(name, waitMs)
    },
    signal,
  )
  const informer = startInformer(cluster, namespaces, { clock, log }, signal)
  informer.onChange(({ before, after }) => {
    // Our own notes in the status are no news.
    if (after !== undefined && isHeld(after) && (before === undefined || !isHeld(before)))
      queue.add(after.metadata.name)
  })
  await informer.synced
}

function isHeld({ metadata, spec }: Namespace): boolean {
  return metadata.deletionTimestamp !== undefined && (spec?.finalizers ?? []).includes(contentFinalizer)
}

/** Whether nothing is left to do. Throws when something could not be deleted. */
async function emptyNamespace(
  { cluster, clock, log }: NamespaceDeletionOptions,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  const namespace = await find(cluster, name, signal)
  if (namespace === undefined || !isHeld(namespace)) return true
  const content = await deleteContent(cluster, name, signal)
  const before = namespace.status?.conditions ?? []
  const conditions = conditionsOf(before, content, clock.now())
  const told =
    conditions === before
      ? namespace
      : await cluster.mergePatch(
          namespaces,
          { name },
          { status: { conditions } },
          { subresource: 'status', signal },
        )
  const failures = [content.discovery, ...content.failures].filter(failure => failure !== undefined)
  if (failures.length > 0) throw new Error(failures.join('; '))
  if (content.left.length > 0) return false
  const finalizers = (told.spec?.finalizers ?? []).filter(finalizer => finalizer !== contentFinalizer)
  await cluster.replace(namespaces, { ...told, spec: { finalizers } }, { subresource: 'finalize' }, signal)
  log.info('namespace is empty', { namespace: name })
  return true
}

async function find(cluster: Cluster, name: string, signal: AbortSignal): Promise<Namespace | undefined> {
  try {
    return await cluster.get(namespaces, { name }, signal)
  } catch (thrown) {
    if (isReason(thrown, 'NotFound')) return undefined
    throw thrown
  }
}
