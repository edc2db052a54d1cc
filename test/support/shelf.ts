import { defineKind } from '../../src/api/kind.ts'
import { s } from '../../src/api/schema.ts'

const item = s.object({
  name: s.string({ default: 'none' }),
  size: s.optional(s.int()),
  words: s.optional(s.atomicList(s.string())),
  labels: s.optional(s.map(s.string())),
})
const pair = s.object({ zone: s.string(), at: s.int(), note: s.optional(s.string()) })

/** A kind with every sort of list, of which each is owned in its own way. */
export const ShelfKind = defineKind({
  group: 'test.example.com',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'Shelf',
  plural: 'shelves',
  scope: 'Namespaced',
  description: 'A kind with lists.',
  servers: ['standalone'],
  properties: {
    spec: s.optional(
      s.object({
        items: s.optional(s.mapList(item, ['name'])),
        pairs: s.optional(s.mapList(pair, ['zone', 'at'])),
        set: s.optional(s.setList(s.string())),
        whole: s.optional(s.atomicList(s.int())),
        extra: s.optional(s.anything()),
      }),
    ),
  },
})
