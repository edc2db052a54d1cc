import type { ApiRequest, Reply } from '../contract.ts'

/** As in kube-apiserver: a list takes one seat for every hundred objects that have to be looked at, ten at most. */
const objectsOfSeat = 100
const widest = 10

/** Beyond this all is forgotten, and learned again. */
const maxKnown = 10_000

/** How much work lists are, from what they were before. */
export class ListWidths {
  /** How many objects there were, by resource and namespace. */
  readonly #objects = new Map<string, number>()

  /** One, unless it is a list or a watch that begins with one. */
  estimate(request: ApiRequest): number {
    if (!isLong(request)) return 1
    const known = this.#objects.get(placeOf(request)) ?? 0
    const limit = Number(request.query.get('limit') ?? 0)
    return widthOf(limit > 0 ? Math.min(limit, known) : known)
  }

  /** The width that the answer really has. */
  learn(request: ApiRequest, { items, remainingItemCount = 0 }: Extract<Reply, { type: 'list' }>): number {
    const place = placeOf(request)
    // A page behind the first one, or what a selector left over, says less than what is known.
    const objects = Math.max(items.length + remainingItemCount, isPart(request) ? this.#known(place) : 0)
    if (this.#objects.size >= maxKnown && !this.#objects.has(place)) this.#objects.clear()
    this.#objects.set(place, objects)
    return widthOf(items.length)
  }

  #known(place: string): number {
    return this.#objects.get(place) ?? 0
  }
}

function widthOf(objects: number): number {
  return Math.min(widest, Math.max(1, Math.ceil(objects / objectsOfSeat)))
}

function isLong({ info, query }: ApiRequest): boolean {
  return info.verb === 'list' || (info.verb === 'watch' && query.get('sendInitialEvents') === 'true')
}

function isPart({ query }: ApiRequest): boolean {
  return query.has('continue') || query.has('labelSelector') || query.has('fieldSelector')
}

function placeOf({ info }: ApiRequest): string {
  return info.isResource ? `${info.group}/${info.resource}/${info.namespace}` : ''
}
