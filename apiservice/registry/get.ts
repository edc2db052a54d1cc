import { notFound } from '../../src/kernel/errors.ts'
import { andThen } from '../../src/kernel/when-settled.ts'
import type { Reply, View } from '../contract.ts'
import type { StoredObject } from '../store-contract.ts'
import { askedRevision } from './list-options.ts'
import { type Call, keyOf } from './parts.ts'
import { reach } from './revision.ts'
import { selectionOf } from './selection.ts'

/** The newest state of one object, which is never older than the revision that is asked for. */
export function get(
  call: Call,
  view: View | undefined,
  signal: AbortSignal,
): ObjectReply | Promise<ObjectReply> {
  const reached = reach(call.parts, askedRevision(call.request.query), signal)
  return reached === undefined ? read(call, view) : reached.then(() => read(call, view))
}

type ObjectReply = Extract<Reply, { type: 'object' }>

function read(call: Call, view: View | undefined): ObjectReply | Promise<ObjectReply> {
  const finding = view === undefined ? call.parts.store.get(keyOf(call)) : find(call, view)
  return andThen(finding, object => replyOf(call, object))
}

function replyOf({ resource, name }: Call, object: StoredObject | undefined): ObjectReply {
  if (object === undefined) throw notFound(resource.ref, name)
  return { type: 'object', code: 200, served: resource.served, object }
}

/** Views have no keys of their own: the object is the one that is shown under the name. */
async function find(call: Call, view: View): Promise<StoredObject | undefined> {
  const { show } = selectionOf(call, { labels: [], fields: [] }, view)
  for (const key of view.keysOf(call.name)) {
    const object = await call.parts.store.get(key)
    const shown = object === undefined ? undefined : show?.(object)
    if (shown !== undefined) return shown
  }
  return undefined
}
