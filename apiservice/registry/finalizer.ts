/** How deletion begins, what it waits for, and when it is done. */
import type { AnyKind } from '../../src/api/kind.ts'
import type { KubeObject, ObjectMeta } from '../../src/api/meta.ts'
import { toTime } from '../../src/kernel/clock.ts'
import type { PropagationPolicy } from './delete-options.ts'

/** The finalizers that the garbage collector takes away (`metav1.FinalizerOrphanDependents`, `…DeleteDependents`). */
const finalizerOf: ReadonlyMap<PropagationPolicy, string> = new Map([
  ['Orphan', 'orphan'],
  ['Foreground', 'foregroundDeletion'],
])
const ofCollector: ReadonlySet<string> = new Set(finalizerOf.values())

/** What the deletion of an object has to wait for. Without a policy its own finalizers stay. */
export function finalizersOnDelete(
  existing: readonly string[],
  policy: PropagationPolicy | undefined,
): readonly string[] {
  if (policy === undefined) return existing
  const others = existing.filter(finalizer => !ofCollector.has(finalizer))
  const added = finalizerOf.get(policy)
  return added === undefined ? others : [...others, added]
}

/** Whether the object must stay although it is being deleted. */
export function isHeld(kind: AnyKind, object: KubeObject): boolean {
  return (object.metadata.finalizers ?? []).length > 0 || (kind.finalize?.pending(object) ?? false)
}

/** Whether this state of the object is its last: it is being deleted and nothing holds it. */
export function isLast(kind: AnyKind, object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined && !isHeld(kind, object)
}

/** The object in deletion. The first call stamps it; later ones may only change its finalizers. */
export function beginDeletion(
  kind: AnyKind,
  object: KubeObject,
  finalizers: readonly string[],
  nowMs: number,
): KubeObject {
  const { finalizers: _before, ...metadata } = object.metadata
  const held = finalizers.length === 0 ? {} : { finalizers }
  if (metadata.deletionTimestamp !== undefined) return { ...object, metadata: { ...metadata, ...held } }
  const begun = kind.finalize?.begin(object) ?? object
  return { ...begun, metadata: { ...metadata, ...stamp(kind, metadata, nowMs), ...held } }
}

/** What has content of its own to wait for has no time to be gone by. */
function stamp(kind: AnyKind, { generation }: ObjectMeta, nowMs: number): Partial<ObjectMeta> {
  return {
    deletionTimestamp: toTime(nowMs),
    ...(kind.finalize === undefined ? { deletionGracePeriodSeconds: 0 } : {}),
    ...(generation === undefined ? {} : { generation: generation + 1 }),
  }
}
