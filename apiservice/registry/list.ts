import { byNamespace } from '../../src/api/order.ts'
import { badRequest, expired, isReason, type StatusError } from '../../src/kernel/errors.ts'
import type { Reply, View } from '../contract.ts'
import type { ObjectKey, Revision, Scope, Store, StoredObject } from '../store-contract.ts'
import { fromToken, type Position, toToken } from './continue-token.ts'
import { inNameOrder } from './in-name-order.ts'
import { type ListQuery, listQuery } from './list-options.ts'
import type { Call } from './parts.ts'
import { reach } from './revision.ts'
import { type Selection, type Show, selectionsOf } from './selection.ts'

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
  /** Where the next page begins, when there is more. */
  readonly next: Omit<Position, 'revision'> | undefined
  readonly remaining: number
}

type Selections = readonly [Selection, ...Selection[]]

/** A list at one revision: the newest, one that is not older, an exact one, or the one of the page before. */
export async function list(call: Call, view: View | undefined, signal: AbortSignal): Promise<Reply> {
  const query = listQuery(call.request.query)
  const selections = selectionsOf(call, query.selectors, view)
  const { items, revision, next, remaining } = await pageOf(call, selections, query, signal)
  return {
    type: 'list',
    served: call.resource.served,
    items,
    revision,
    ...(next === undefined ? {} : { continue: toToken({ revision, ...next }) }),
    ...(next === undefined || selections[0].isFiltered ? {} : { remainingItemCount: remaining }),
  }
}

/** One page of what a list query asks for; throws what the client is to see. */
export async function pageOf(
  { parts }: Call,
  selections: Selections,
  query: ListQuery,
  signal: AbortSignal,
): Promise<Page> {
  if (query.continue !== '') return nextPage(parts.store, selections, query)
  await reach(parts, query, signal)
  const start = isExact(query) && query.revision !== undefined ? { revision: query.revision } : {}
  return collect(parts.store, selections, start, query.limit)
}

/** A page at a revision that is not matched otherwise shows exactly that one. */
function isExact({ match, limit, revision }: ListQuery): boolean {
  return match === 'Exact' || (match === '' && limit > 0 && revision !== undefined && revision > 0)
}

async function nextPage(store: Store, selections: Selections, query: ListQuery): Promise<Page> {
  if (query.revision !== undefined && query.revision !== 0) {
    throw badRequest('specifying resource version is not allowed when using continue')
  }
  const position = fromToken(query.continue)
  const [{ scope, within }] = selections
  const isOfParts = position.within !== undefined
  if (scope.resources[0] !== position.after.resource || isOfParts !== (within !== undefined)) {
    throw badRequest('invalid continue token: continue key is not valid: it belongs to another list')
  }
  const from = position.revision === -1 ? {} : { revision: position.revision }
  const [first, ...others] = selections.filter(
    part => byNamespace(part.within ?? '', position.within ?? '') >= 0,
  )
  if (first === undefined) return { items: [], revision: store.revision(), ...from, ...noMore }
  const start = first.within === position.within ? { ...from, after: position.after } : from
  try {
    return await collect(store, [first, ...others], start, query.limit)
  } catch (thrown) {
    throw isReason(thrown, 'Expired') ? expiredToken(position, thrown) : thrown
  }
}

function expiredToken(position: Position, cause: Error): StatusError {
  const message = `The provided continue parameter is too old to display a consistent list result: ${cause.message} Start a new list without it, or go on with the token in this answer: it continues at the newest state, so that objects which changed in between may be missing or shown twice.`
  return expired(message, toToken({ ...position, revision: -1 }))
}

const noMore = { next: undefined, remaining: 0 }

/** Up to `limit` objects that the selections show, 0 for all of them. Every read is at the revision of the first. */
export async function collect(
  store: Store,
  selections: Selections,
  start: Start,
  limit: number,
): Promise<Page> {
  const [first, ...others] = selections
  const page = await collectPart(store, first, start, limit)
  if (others.length === 0 || page.next !== undefined) return page
  const items = [...page.items]
  const { revision } = page
  for (const selection of others) {
    const left = limit === 0 ? 0 : limit - items.length
    if (limit !== 0 && left === 0) return { items, revision, next: startOf(selection), remaining: 0 }
    const part = await collectPart(store, selection, { revision }, left)
    for (const item of part.items) items.push(item)
    if (part.next !== undefined) return { ...part, items }
  }
  return { items, revision, ...noMore }
}

/** Before all that a selection shows. */
function startOf({ scope, within }: Selection): Page['next'] {
  return { within, after: firstKey(scope) }
}

function firstKey({ resources: [resource = ''] }: Scope): ObjectKey {
  return { resource, namespace: '', name: '' }
}

function at({ revision }: { readonly revision?: Revision | undefined }): Pick<Start, 'revision'> {
  return revision === undefined ? {} : { revision }
}

async function collectPart(
  store: Store,
  { scope, show, only, within, keysOf }: Selection,
  start: Start,
  limit: number,
): Promise<Page> {
  if (show === undefined) {
    const read = await store.list(scope, { ...start, limit })
    return pageFrom({ ...read, last: read.items.at(-1), within })
  }
  if (only !== undefined && start.after === undefined) {
    return pageOfKeys(store, only, show, start.revision)
  }
  if (keysOf !== undefined) {
    const after = start.after === undefined ? [] : keysOf(start.after.name)
    const read = await inNameOrder(store, { scope, show, after, limit, chunk: chunkSize, ...at(start) })
    return pageFrom({ ...read, last: nameAsKey(scope, read.items.at(-1)), within })
  }
  return collectShown(store, { scope, show, within }, start, limit)
}

/** Where a list in the order of names goes on: these have no keys of their own. */
function nameAsKey(scope: Scope, object: StoredObject | undefined): ObjectKey | undefined {
  return object && { ...firstKey(scope), name: object.name }
}

async function collectShown(
  store: Store,
  { scope, show, within }: Pick<Selection, 'scope' | 'within'> & { readonly show: Show },
  start: Start,
  limit: number,
): Promise<Page> {
  const items: StoredObject[] = []
  for (let from = start; ; ) {
    const read = await store.list(scope, { ...from, limit: limit === 0 ? 0 : chunkSize })
    const end = take(read.items, show, items, limit)
    const behind = read.remaining + read.items.length - end
    const last = read.items[end - 1]
    if (items.length === limit || behind === 0 || last === undefined) {
      return pageFrom({ items, revision: read.revision, last, remaining: behind, within })
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
    const read = await store.list(scope, { ...at({ revision }), after: before(key), limit: 1 })
    revision = read.revision
    const object = read.items.find(({ namespace, name }) => namespace === key.namespace && name === key.name)
    const shown = object === undefined ? undefined : show(object)
    if (shown !== undefined) items.push(shown)
  }
  return { items, revision: revision ?? store.revision(), ...noMore }
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

function pageFrom({
  items,
  revision,
  last,
  remaining,
  within,
}: Pick<Page, 'items' | 'revision' | 'remaining'> & {
  readonly last: ObjectKey | undefined
  readonly within: string | undefined
}): Page {
  const next = remaining === 0 || last === undefined ? undefined : { within, after: toKey(last) }
  return { items, revision, next, remaining }
}

function toKey({ resource, namespace, name }: ObjectKey): ObjectKey {
  return { resource, namespace, name }
}
