import type { Follow, Follower, StoredObject } from '../../apiservice/store-contract.ts'
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
 * parsed, for the store tells of every write. A store that is away when it is first asked is asked again until it answers.
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
  return {
    reset: items => listener.reset(items.map(seen)),
    events: batch => {
      for (const { type, object } of batch) {
        if (type === 'PUT') listener.put(seen(object))
        else listener.removed(seen(object))
      }
    },
  }
}

function seen(object: StoredObject): Seen {
  return { resource: object.resource, metadata: metadataOf(object) }
}

const telling = ['ownerReferences', 'finalizers', 'deletionTimestamp'].map(keyBytes)

function metadataOf({ revision, namespace, name, body }: StoredObject): ObjectMeta {
  const uid = uidAtStart(body)
  if (uid === undefined || telling.some(key => body.includes(key))) return parsed(revision, body)
  const resourceVersion = String(revision)
  return namespace === '' ? { name, uid, resourceVersion } : { namespace, name, uid, resourceVersion }
}

function parsed(revision: number, body: Buffer): ObjectMeta {
  const { metadata } = decodeBody('', '', { revision, body })
  const { managedFields: _fields, annotations: _annotations, labels: _labels, ...meta } = metadata
  return meta
}
