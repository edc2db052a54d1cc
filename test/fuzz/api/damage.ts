/** Changes a document in one to three places, or its bytes. */
import { type Next, oneOf } from '../random.ts'

export type Json =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

const values: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  2 ** 31,
  2 ** 53,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  2n ** 63n,
  10n ** 30n,
  '',
  'a',
  '\u0000',
  '\ud800',
  '__proto__',
  'a'.repeat(300),
  [],
  {},
  [[]],
  [null],
  [{}, {}],
  { a: null },
  { $patch: 'delete' },
  { $patch: 'replace' },
  '2026-01-01T00:00:00Z',
  '10.0.0.1',
  '::1',
  '-',
  'A',
  '.',
]

const keys = [
  '__proto__',
  'constructor',
  'toString',
  '',
  'a',
  '$patch',
  '$retainKeys',
  'f:a',
  '.',
  '~1',
  'metadata',
  'status',
  'name',
] as const

export function damaged(document: Json, next: Next): Json {
  let result = document
  for (let left = 1 + next(3); left > 0; left--) result = changed(result, next)
  return result
}

function changed(value: Json, next: Next): Json {
  if (next(6) === 0 || typeof value !== 'object' || value === null) return oneOf(values, next) ?? null
  return Array.isArray(value) ? changedList(value, next) : changedObject(Object.entries(value), next)
}

function changedList(items: readonly Json[], next: Next): Json {
  const at = next(items.length + 1)
  const item = items[at] ?? null
  const ways = [
    () => items.with(Math.min(at, items.length - 1), changed(item, next)),
    () => items.toSpliced(at, 1),
    () => items.toSpliced(at, 0, item, item),
    () => items.toReversed(),
  ]
  return items.length === 0 ? [oneOf(values, next) ?? null] : (oneOf(ways, next)?.() ?? items)
}

function changedObject(entries: readonly (readonly [string, Json])[], next: Next): Json {
  const at = next(entries.length || 1)
  const [key, value] = entries[at] ?? ['a', null]
  const ways = [
    () => [...entries.slice(0, at), [key, changed(value, next)] as const, ...entries.slice(at + 1)],
    () => [...entries.slice(0, at), [key, changed(value, next)] as const, ...entries.slice(at + 1)],
    () => entries.toSpliced(at, 1),
    () => [...entries, [oneOf(keys, next) ?? 'a', oneOf(values, next) ?? null] as const],
  ]
  return Object.fromEntries(oneOf(ways, next)?.() ?? entries)
}

export function damagedBytes(bytes: Buffer, next: Next): Buffer {
  const at = next(bytes.length || 1)
  const ways = [
    () => bytes.subarray(0, at),
    () => Buffer.concat([bytes.subarray(0, at), Buffer.alloc(next(8), next(256)), bytes.subarray(at)]),
    () => Buffer.concat([bytes.subarray(0, at), bytes]),
    () => bytes.map((byte, place) => (place === at ? next(256) : byte)),
    () => Buffer.from([...bytes.subarray(0, 200)].map(() => next(256))),
  ]
  return Buffer.from(oneOf(ways, next)?.() ?? bytes)
}
