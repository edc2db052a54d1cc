import { badRequest, expired, isReason, type StatusError } from '../../src/kernel/errors.ts'
import type { Reply, View } from '../contract.ts'
import type { ObjectKey, Revision, Store, StoredObject } from '../store-contract.ts'
import { fromToken, type Position, toToken } from './continue-token.ts'
import { type ListQuery, listQuery } from './list-options.ts'
import type { Call } from './parts.ts'
import { reach } from './revision.ts'
import { type Selection, type Show, selectionOf } from './selection.ts'

/** How many objects are looked at in one read when selectors leave some out. */
const chunkSize = 500

type Start = {
  /** Absent: the newest. */
  readonly revision?: Revision
  readonly after?: ObjectKey
}

export type Page = {
  readonly items: readonly StoredObject[]
  readonly revision: Revision
  /** The last object that was looked at, when there is more behind it. */
  readonly last: ObjectKey | undefined
  readonly remaining: number
}

/** A list at one revision: the newest, one that is not older, an exact one, or the one of the page before. */
export async function list(call: Call, view: View | undefined, signal: AbortSignal): Promise<Reply> {
  const query = listQuery(call.request.query)
  const selection = selectionOf(call, query.selectors, view)
  const page = await pageOf(call, selection, query, signal)
  return {
    type: 'list',
    served: call.resource.served,
    items: page.items,
    revision: page.revision,
    ...(page.last === undefined ? {} : { continue: toToken({ revision: page.revision, after: page.last }) }),
    ...(page.last === undefined || selection.isFiltered ? {} : { remainingItemCount: page.remaining }),
  }
}

/** One page of what a list query asks for; throws what the client is to see. */
export async function pageOf(
  { parts }: Call,
  selection: Selection,
  query: ListQuery,
  signal: AbortSignal,
): Promise<Page> {
  if (query.continue !== '') return nextPage(parts.store, selection, query)
  await reach(parts, query.revision, signal)
  const start = isExact(query) && query.revision !== undefined ? { revision: query.revision } : {}
  return collect(parts.store, selection, start, query.limit)
}

/** A page at a revision that is not matched otherwise shows exactly that one. */
function isExact({ match, limit, revision }: ListQuery): boolean {
  return match === 'Exact' || (match === '' && limit > 0 && revision !== undefined && revision > 0)
}

async function nextPage(store: Store, selection: Selection, query: ListQuery): Promise<Page> {
  if (query.revision !== undefined && query.revision !== 0) {
    throw badRequest('specifying resource version is not allowed when using continue')
  }
  const position = fromToken(query.continue)
  if (!selection.scope.resources.includes(position.after.resource)) {
    throw badRequest('invalid continue token: continue key is not valid: it belongs to another list')
  }
  const start = position.revision === -1 ? {} : { revision: position.revision }
  try {
    return await collect(store, selection, { ...start, after: position.after }, query.limit)
  } catch (thrown) {
    throw isReason(thrown, 'Expired') ? expiredToken(position, thrown) : thrown
  }
}

function expiredToken(position: Position, cause: Error): StatusError {
  const message = `The provided continue parameter is too old to display a consistent list result: ${cause.message} Start a new list without it, or go on with the token in this answer: it continues at the newest state, so that objects which changed in between may be missing or shown twice.`
  return expired(message, toToken({ ...position, revision: -1 }))
}

/** Up to `limit` objects that the selection shows, 0 for all of them. Every read is at the revision of the first. */
export async function collect(
  store: Store,
  { scope, show, only }: Selection,
  start: Start,
  limit: number,
): Promise<Page> {
  if (show === undefined) {
    const read = await store.list(scope, { ...start, limit })
    return pageFrom(read.items, read.revision, read.items.at(-1), read.remaining)
  }
  if (only !== undefined && start.after === undefined) {
    return pageOfKeys(store, only, show, start.revision)
  }
  const items: StoredObject[] = []
  for (let from = start; ; ) {
    const read = await store.list(scope, { ...from, limit: limit === 0 ? 0 : chunkSize })
    const end = take(read.items, show, items, limit)
    const behind = read.remaining + read.items.length - end
    const last = read.items[end - 1]
    if (items.length === limit || behind === 0 || last === undefined) {
      return pageFrom(items, read.revision, last, behind)
    }
    from = { revision: read.revision, after: toKey(last) }
  }
}

/** What is shown of some keys, at one revision. */
async function pageOfKeys(
  store: Store,
  keys: readonly ObjectKey[],
  show: Show,
  start: Revision | undefined,
): Promise<Page> {
  const items: StoredObject[] = []
  let revision = start
  for (const key of keys) {
    const scope = { resources: [key.resource], namespace: key.namespace }
    const at = revision === undefined ? {} : { revision }
    const read = await store.list(scope, { ...at, after: before(key), limit: 1 })
    revision = read.revision
    const object = read.items.find(({ namespace, name }) => namespace === key.namespace && name === key.name)
    const shown = object === undefined ? undefined : show(object)
    if (shown !== undefined) items.push(shown)
  }
  return pageFrom(items, revision ?? store.revision(), undefined, 0)
}

/** A key that sorts right before this one: no other name is between them. */
function before(key: ObjectKey): ObjectKey {
  return { ...key, name: key.name.slice(0, -1) + predecessor(key.name.at(-1) ?? '') }
}

/** All that begins with the character before sorts before this. */
function predecessor(character: string): string {
  return character === '' ? '' : `${String.fromCharCode(character.charCodeAt(0) - 1)}\u{10ffff}`
}

/** Adds what is shown until there are `limit`; answers how many objects were looked at. */
function take(objects: readonly StoredObject[], show: Show, items: StoredObject[], limit: number): number {
  let seen = 0
  for (const object of objects) {
    seen += 1
    const shown = show(object)
    if (shown !== undefined && items.push(shown) === limit) break
  }
  return seen
}

function pageFrom(
  items: readonly StoredObject[],
  revision: Revision,
  last: StoredObject | undefined,
  remaining: number,
): Page {
  return {
    items,
    revision,
    last: remaining === 0 || last === undefined ? undefined : toKey(last),
    remaining,
  }
}

function toKey({ resource, namespace, name }: StoredObject): ObjectKey {
  return { resource, namespace, name }
}
