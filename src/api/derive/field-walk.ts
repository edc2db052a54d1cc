/** Where two states of a value differ, part by part as they are owned. */
import { isDeepStrictEqual } from 'node:util'
import { entryOf, isRecord, type JsonRecord } from '../record.ts'
import { fieldOf, type Part, partsOf } from './field-paths.ts'
import type { Shape } from './field-shape.ts'

/** Is told of every part that may differ. */
export interface Differing {
  /** Of a part of both, which are not the very same. */
  both(element: string, shape: Shape, before: unknown, after: unknown): void
  come(element: string, shape: Shape, after: unknown): void
  go(element: string, shape: Shape, before: unknown): void
}

/**
 * How two states differ: not at all, in their parts alone, as a whole, or as a whole of which one has parts that come or
 * go besides. Both are given.
 */
export type Difference = 'none' | 'parts' | 'whole' | 'replaced'

export function walkDifferences(
  shape: Shape,
  before: unknown,
  after: unknown,
  differing: Differing,
): Difference {
  if (before === after) return 'none'
  if (shape.type === 'whole') return areEqual(before, after) ? 'none' : 'whole'
  if (isByName(shape) && isRecord(before) && isRecord(after)) {
    walkRecords(shape, { before, after }, differing)
    return 'parts'
  }
  const had = partsOf(shape, before)
  const has = partsOf(shape, after)
  if (had === undefined || has === undefined) return areEqual(before, after) ? 'none' : 'replaced'
  walkParts(had, has, differing)
  // Null is not the same as empty. What nobody owns does not count.
  const isEmpty = had.length + has.length === 0
  return isEmpty && (before === null) !== (after === null) ? 'whole' : 'parts'
}

function isByName({ type }: Shape): boolean {
  return type === 'struct' || type === 'map' || type === 'free'
}

/** Both are not the very same. */
function areEqual(before: unknown, after: unknown): boolean {
  return (typeof before === 'object' || typeof after === 'object') && isDeepStrictEqual(before, after)
}

type States = { readonly before: JsonRecord; readonly after: JsonRecord }

/** Most fields are the same in both, and cost nothing but a look at each. What is inherited equals nothing that JSON has. */
function walkRecords(shape: Shape, states: States, differing: Differing): void {
  const { before, after } = states
  for (const name of Object.keys(after)) {
    if (after[name] !== before[name]) walkEntry(shape, name, states, differing)
  }
  for (const name of Object.keys(before)) {
    if (before[name] !== after[name] && entryOf(after, name) === undefined)
      walkEntry(shape, name, states, differing)
  }
}

function walkEntry(shape: Shape, name: string, { before, after }: States, differing: Differing): void {
  const field = fieldOf(shape, name)
  if (field === undefined) return
  const { element, shape: inner } = field
  const had = entryOf(before, name)
  const has = entryOf(after, name)
  if (had !== undefined && has !== undefined) differing.both(element, inner, had, has)
  else if (has !== undefined) differing.come(element, inner, has)
  else if (had !== undefined) differing.go(element, inner, had)
}

function walkParts(had: readonly Part[], has: readonly Part[], differing: Differing): void {
  const [first, next] = [had[0], has[0]]
  // Many lists have one item, and need no map to find it.
  if (had.length === 1 && has.length === 1 && first !== undefined && next !== undefined) {
    walkOne(first, next, differing)
    return
  }
  const old = new Map<string, Part>()
  for (const part of had) old.set(part.element, part)
  for (const { element, shape, value } of has) {
    const before = old.get(element)
    if (before === undefined) differing.come(element, shape, value)
    else if (old.delete(element) && before.value !== value)
      differing.both(element, shape, before.value, value)
  }
  for (const { element, shape, value } of old.values()) differing.go(element, shape, value)
}

function walkOne(before: Part, after: Part, differing: Differing): void {
  const { element, shape, value } = after
  if (element === before.element) {
    if (before.value !== value) differing.both(element, shape, before.value, value)
    return
  }
  differing.come(element, shape, value)
  differing.go(before.element, before.shape, before.value)
}
