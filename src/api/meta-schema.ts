/**
 * The schemas of the types that every kind shares (`meta.k8s.io/v1`): what pruning, decoding and OpenAPI know of
 * `metadata`.
 */
import { s } from './schema.ts'

const ownerReference = s.atomic(
  s.object(
    {
      apiVersion: s.string({ description: 'API version of the owner.' }),
      kind: s.string({ description: 'Kind of the owner.' }),
      name: s.string({ description: 'Name of the owner.' }),
      uid: s.string({ description: 'UID of the owner.' }),
      controller: s.optional(
        s.boolean({ description: 'Whether this owner is the controller that manages the object.' }),
      ),
      blockOwnerDeletion: s.optional(
        s.boolean({
          description:
            'Whether a foreground deletion of the owner waits until this object is gone. Setting it takes the right to delete the owner.',
        }),
      ),
    },
    { description: 'An object that owns this one and is in the same namespace, or cluster-scoped.' },
  ),
)

const managedFieldsEntry = s.object(
  {
    manager: s.optional(s.string({ description: 'Who wrote the fields.' })),
    operation: s.optional(
      s.string({ description: 'How they were written: Apply for server-side apply, Update for all else.' }),
    ),
    apiVersion: s.optional(s.string({ description: 'Version of the object that the fields are named in.' })),
    time: s.optional(s.time({ description: 'When the entry last changed.' })),
    fieldsType: s.optional(s.string({ description: 'Format of the field set; always FieldsV1.' })),
    fieldsV1: s.optional(s.anything({ description: 'The fields, as a tree of `f:`, `k:` and `v:` keys.' })),
    subresource: s.optional(
      s.string({ description: 'Name of the subresource through which they were written; empty for none.' }),
    ),
  },
  { description: 'A set of fields and the workflow that manages them.' },
)

export const objectMetaSchema = s.object(
  {
    name: s.optional(
      s.string({
        description: 'Unique in its namespace for objects of one kind. Cannot be changed.',
      }),
    ),
    generateName: s.optional(
      s.string({
        description:
          'When no name is given the server makes one that begins with this and ends in five random characters.',
      }),
    ),
    namespace: s.optional(
      s.string({
        description:
          'The space in which the name is unique; empty for cluster-scoped kinds. Cannot be changed.',
      }),
    ),
    selfLink: s.optional(s.string({ description: 'No longer filled.' })),
    uid: s.optional(
      s.string({
        description:
          'Tells this object from all others there ever were, also of the same name. Made by the server.',
      }),
    ),
    resourceVersion: s.optional(
      s.string({
        description:
          'Changes with every change of the object. Opaque to clients: hand it back to detect concurrent changes, or to start a watch.',
      }),
    ),
    generation: s.optional(
      s.int64({
        description: 'Counts the changes of what is asked for, not of the status. Kept by the server.',
      }),
    ),
    creationTimestamp: s.optional(s.time({ description: 'When the server created the object, in UTC.' })),
    deletionTimestamp: s.optional(
      s.time({
        description:
          'When deletion was asked for. The object goes away when its finalizers are gone. Kept by the server.',
      }),
    ),
    deletionGracePeriodSeconds: s.optional(
      s.int64({ description: 'Seconds that the object has to end by itself after deletion was asked for.' }),
    ),
    labels: s.optional(
      s.map(s.string(), {
        description: 'Keys and values that organise and select objects.',
      }),
    ),
    annotations: s.optional(
      s.map(s.string(), {
        description: 'Keys and values that tools keep with the object; not for selecting.',
      }),
    ),
    ownerReferences: s.optional(
      s.patchList(
        s.mapList(ownerReference, ['uid'], {
          description: 'The objects that this one depends on. When all of them are gone it is deleted.',
        }),
        'uid',
      ),
    ),
    finalizers: s.optional(
      s.patchList(
        s.setList(s.string(), {
          description:
            'What must be done before the object may go away. Each entry is taken off by who did it.',
        }),
        '',
      ),
    ),
    managedFields: s.optional(
      s.atomicList(managedFieldsEntry, {
        description: 'Which workflow set which fields. Kept by the server.',
      }),
    ),
  },
  { description: 'What all objects have in common.' },
)

export const listMetaSchema = s.object(
  {
    selfLink: s.optional(s.string({ description: 'No longer filled.' })),
    resourceVersion: s.optional(
      s.string({ description: 'The state of the server that the list shows; a watch may start from it.' }),
    ),
    continue: s.optional(
      s.string({
        description: 'Set when there is more: hand it back to get the next page of the same list.',
      }),
    ),
    remainingItemCount: s.optional(
      s.int64({ description: 'How many items follow this page, where that is known.' }),
    ),
  },
  { description: 'What all lists have in common.' },
)

export { managedFieldsEntry as managedFieldsEntrySchema, ownerReference as ownerReferenceSchema }
