/** When the change was first seen that an object was last written for: an annotation that no write is made for. */
import { fromTime } from '../kernel/clock.ts'
import type { Changed } from '../kernel/propagation.ts'
import type { ObjectMeta } from './meta.ts'
import { wellKnown } from './well-known.ts'

type Annotated = { readonly metadata: Pick<ObjectMeta, 'annotations'> }

/** What an object says that the version before did not say. Whatever cannot be read says nothing. */
export function newlyChanged(
  before: Annotated | undefined,
  after: Annotated | undefined,
): Changed | undefined {
  const text = after?.metadata.annotations?.[wellKnown.changed]
  if (text === undefined || text === before?.metadata.annotations?.[wellKnown.changed]) return undefined
  const [time = '', by] = text.split(' ')
  const atMs = fromTime(time)
  return Number.isNaN(atMs) ? undefined : { atMs, by }
}

/** Unchanged when there is nothing to say. */
export function withChanged<M extends Pick<ObjectMeta, 'annotations'>>(
  metadata: M,
  changed: Changed | undefined,
): M {
  if (changed === undefined) return metadata
  const { atMs, by } = changed
  const text = [new Date(atMs).toISOString(), by].filter(part => part !== undefined).join(' ')
  return { ...metadata, annotations: { ...metadata.annotations, [wellKnown.changed]: text } }
}
