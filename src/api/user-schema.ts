import { s } from './schema.ts'

/** What is known of a user beside the name, which has another key in each kind. */
export const userProperties = {
  extra: s.optional(s.map(s.atomicList(s.string()), { description: 'What else is known of the user.' })),
  groups: s.optional(s.atomicList(s.string(), { description: 'Groups that the user is in.' })),
  uid: s.optional(s.string({ description: 'UID of the user.' })),
}
