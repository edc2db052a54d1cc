import type { Follow, StoredObject } from '../../apiservice/store-contract.ts'
import type { ObjectMeta } from '../api/meta.ts'
import { decodeBody, keyBytes, uidAtStart } from '../codec/object-bytes.ts'
import type { ObjectFeed, Seen } from '../standalone/object-feed.ts'

/**
 * The objects of a server's own store. Most are neither owned nor being deleted, which their bytes tell: those are not
 * parsed, for the store tells of every write.
 */
export function storedFeed(follow: Follow): ObjectFeed {
  return (resources, listener, signal) =>
    follow(
      { resources, namespace: '' },
      {
        reset: items => listener.reset(items.map(seen)),
        events: batch => {
          for (const { type, object } of batch) {
            if (type === 'PUT') listener.put(seen(object))
            else listener.removed(seen(object))
          }
        },
      },
      signal,
    )
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
