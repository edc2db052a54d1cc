import { notFound } from '../../src/kernel/errors.ts'
import type { Reply, View } from '../contract.ts'
import type { StoredObject } from '../store-contract.ts'
import { askedRevision } from './list-options.ts'
import { type Call, keyOf } from './parts.ts'
import { reach } from './revision.ts'
import { selectionOf } from './selection.ts'

/** The newest state of one object, which is never older than the revision that is asked for. */
export async function get(call: Call, view: View | undefined, signal: AbortSignal): Promise<Reply> {
  const { parts, resource } = call
  const reached = reach(parts, askedRevision(call.request.query), signal)
  if (reached !== undefined) await reached
  const finding = view === undefined ? parts.store.get(keyOf(call)) : find(call, view)
  const object = finding instanceof Promise ? await finding : finding
  if (object === undefined) throw notFound(resource.ref, call.name)
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
