import { s } from './schema.ts'

/** `v1.ObjectReference`. */
export function objectReferenceSchema(description: string) {
  return s.atomic(
    s.object(
      {
        apiVersion: s.optional(s.string({ description: 'API version of the object.' })),
        fieldPath: s.optional(s.string({ description: 'A part of the object, as spec.containers{name}.' })),
        kind: s.optional(s.string({ description: 'Kind of the object.' })),
        name: s.optional(s.string({ description: 'Name of the object.' })),
        namespace: s.optional(s.string({ description: 'Namespace of the object.' })),
        resourceVersion: s.optional(s.string({ description: 'Version of the object that is meant.' })),
        uid: s.optional(s.string({ description: 'UID of the object.' })),
      },
      { description },
    ),
  )
}
