import type { Follow, Follower, StoredObject, StoreEvent } from '../../apiservice/store-contract.ts'
import type { ObjectMeta } from '../api/meta.ts'
import { decodeBody, keyBytes, uidAtStart } from '../codec/object-bytes.ts'
import { errorText, sleep } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import type { FeedListener, ObjectFeed, Seen } from '../standalone/object-feed.ts'

type FeedOptions = { readonly clock: Clock; readonly log: Logger }

const retryMs = 1000

/**
 * The objects of a server's own store. Most are neither owned nor being deleted, which their bytes tell: those are not
 * parsed, and told of only when they come, for whatever else changes in them is nothing to those that they own. A store
 * that is away when it is first asked is asked again until it answers.
 */
export function storedFeed(follow: Follow, { clock, log }: FeedOptions): ObjectFeed {
  return async (resources, listener, signal) => {
    const follower = followerOf(listener)
    for (;;) {
      try {
        return await follow({ resources, namespace: '' }, follower, signal)
      } catch (thrown) {
        signal.throwIfAborted()
        log.warn('stored objects cannot be listed', { resource: resources[0], error: errorText(thrown) })
      }
      await sleep(clock, retryMs, signal)
    }
  }
}

function followerOf(listener: FeedListener): Follower {
  /** Those that were told of as owned or being deleted. */
  const telling = new Set<string>()
  const note = (object: StoredObject): boolean => {
    const tells = isTelling(object.body)
    if (tells) telling.add(idOf(object))
    return tells
  }
  const removed = (object: StoredObject): void => {
    telling.delete(idOf(object))
    listener.removed(seen(object, isTelling(object.body)))
  }
  const put = ({ object, previous }: StoreEvent): void => {
    const told = telling.size > 0 && telling.delete(idOf(object))
    const tells = note(object)
    if (tells || told || previous === undefined) listener.put(seen(object, tells))
  }
  return {
    reset: items => {
      telling.clear()
      listener.reset(items.map(object => seen(object, note(object))))
    },
    events: batch => {
      for (const event of batch) {
        if (event.type === 'DELETE') removed(event.object)
        else put(event)
      }
    },
  }
}

function idOf({ resource, namespace, name }: StoredObject): string {
  return `${resource}/${namespace}/${name}`
}

function seen(object: StoredObject, tells: boolean): Seen {
  return { resource: object.resource, metadata: tells ? parsed(object) : plain(object) }
}

/**
 * The ends of keys, of which few other places have the first letter: a search for a whole key takes several times as
 * long, for it begins anew at every quote.
 */
const ownersEnd = keyBytes('ownerReferences').subarray('"owner'.length)
const deletionEnd = keyBytes('deletionTimestamp').subarray('"'.length)

/** Whether an object may be owned or being deleted. Finalizers alone hold up nothing. */
function isTelling(body: Buffer): boolean {
  return body.includes(ownersEnd) || body.includes(deletionEnd)
}

function plain(object: StoredObject): ObjectMeta {
  const { revision, namespace, name, body } = object
  const uid = uidAtStart(body)
  if (uid === undefined) return parsed(object)
  const resourceVersion = String(revision)
  return namespace === '' ? { name, uid, resourceVersion } : { namespace, name, uid, resourceVersion }
}

function parsed(object: StoredObject): ObjectMeta {
  const { metadata } = decodeBody('', '', object)
  const { managedFields: _fields, annotations: _annotations, labels: _labels, ...meta } = metadata
  return meta
}
