/**
 * JSON Patch (RFC 6902) as kube-apiserver carries it out, which is more lenient: an index may count from the end, what is
 * not there may be replaced, and a value that is not given is null. Keys may have any name: `__proto__` and `constructor`
 * are data here.
 */
import { isDeepStrictEqual } from 'node:util'
import { maxFaults } from '../../src/api/derive/visit.ts'
import { entryOf, isRecord, setEntry } from '../../src/api/record.ts'
import {
  badRequest,
  tooLarge,
  tooManyOperations,
  tooManyValues,
  unprocessable,
} from '../../src/kernel/errors.ts'
import { fromJson } from '../../src/kernel/json.ts'
import { fieldProblems } from './document.ts'

export const maxOperations = 10_000
/** How much the values that `copy` repeats may take together. */
export const maxCopiedBytes = 3 * 1_024 * 1_024

/** How far the operations may move the items of lists: ten thousand of them at the front of a list of that length. */
const maxMovedItems = 100_000_000

type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: Pointer; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: Pointer }
  | { readonly op: 'move' | 'copy'; readonly path: Pointer; readonly from: Pointer }

/** The unescaped tokens of a JSON pointer; none is the whole document. */
type Pointer = readonly string[]

type Container = Record<string, unknown> | unknown[]

/** A copy in which no two places are the same record, as they may be in what is known of an object. */
export function unshared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unshared)
  if (!isRecord(value)) return value
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value)) setEntry(copy, name, unshared(value[name]))
  return copy
}

/** Null is no operation at all. Throws 400 unless it is a list, 413 for too many operations, 422 for an operation that is none. */
export function jsonPatch(document: unknown): readonly Operation[] {
  if (document === null) return []
  if (!Array.isArray(document)) throw badRequest('error decoding patch: a JSON patch is a list of operations')
  if (document.length > maxOperations) throw tooManyOperations(document.length, maxOperations)
  return document.map(toOperation)
}

const operationFields: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value'])

/** What field validation has to say about the operations themselves: members that are none of theirs, and duplicates. */
export function jsonPatchProblems(document: unknown, duplicates: readonly string[]): readonly string[] {
  const operations: readonly unknown[] = Array.isArray(document) ? document : []
  const unknown = operations.flatMap((operation, index) =>
    isRecord(operation)
      ? Object.keys(operation)
          .filter(name => !operationFields.has(name))
          .map(name => `[${index}].${name}`)
      : [],
  )
  return fieldProblems(duplicates, unknown.slice(0, maxFaults)).map(problem => `json patch ${problem}`)
}

function toOperation(raw: unknown): Operation {
  if (raw === null) throw unprocessable()
  if (!isRecord(raw)) throw badRequest('error decoding patch: an operation of a JSON patch is an object')
  const { op, path, from, value = null } = raw
  switch (op) {
    case 'replace':
    case 'test':
      return { op, path: path === '' ? [] : toPointer(path), value }
    case 'add':
      return { op, path: toPointer(path), value }
    case 'remove':
      return { op, path: toPointer(path) }
    case 'move':
    case 'copy':
      return { op, path: toPointer(path), from: toPointer(from) }
    default:
      throw unprocessable()
  }
}

/** What comes before the first slash does not count. */
function toPointer(text: unknown): Pointer {
  if (typeof text !== 'string' || !text.includes('/')) throw unprocessable()
  return text
    .split('/')
    .slice(1)
    .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Carries out the operations on a document that nobody else holds. Throws 422 when one does not fit, 413 for copies. */
export function applyJsonPatch(document: unknown, operations: readonly Operation[]): unknown {
  const state: State = { root: [document], copiedBytes: 0, movedItems: 0 }
  for (const operation of operations) applyOperation(state, operation)
  return state.root[0]
}

/** The document stands in a list of one, so that it can be replaced like anything else. */
type State = { readonly root: unknown[]; copiedBytes: number; movedItems: number }

function applyOperation(state: State, operation: Operation): void {
  const { path } = operation
  switch (operation.op) {
    case 'add':
      add(state, path, structuredClone(operation.value))
      break
    case 'remove':
      remove(state, path)
      break
    case 'replace':
      replace(state, path, structuredClone(operation.value))
      break
    case 'test':
      test(state, path, operation.value)
      break
    case 'move':
      move(state, operation.from, path)
      break
    case 'copy':
      add(state, path, copied(state, operation.from))
      break
  }
}

function test(state: State, path: Pointer, expected: unknown): void {
  if (!isDeepStrictEqual(at(state, path), expected)) throw unprocessable()
}

function move(state: State, from: Pointer, path: Pointer): void {
  const value = at(state, from)
  remove(state, from)
  add(state, path, value)
}

function copied(state: State, from: Pointer): unknown {
  const text = JSON.stringify(at(state, from))
  state.copiedBytes += text.length
  if (state.copiedBytes > maxCopiedBytes) throw tooLarge(maxCopiedBytes)
  return fromJson(text)
}

function add(state: State, path: Pointer, value: unknown): void {
  const { container, key } = place(state, path)
  if (!Array.isArray(container)) {
    setEntry(container, key, value)
    return
  }
  const index = key === '-' ? container.length : toIndex(key, container.length + 1)
  countMoved(state, container.length - index)
  container.splice(index, 0, value)
}

function replace(state: State, path: Pointer, value: unknown): void {
  if (path.length === 0 && !isContainer(value)) throw unprocessable()
  const { container, key } = place(state, path)
  if (Array.isArray(container)) container[toIndex(key, container.length)] = value
  else setEntry(container, key, value)
}

function remove(state: State, path: Pointer): void {
  const { container, key } = place(state, path)
  if (Array.isArray(container)) {
    const index = toIndex(key, container.length)
    countMoved(state, container.length - index)
    container.splice(index, 1)
  } else {
    if (!Object.hasOwn(container, key)) throw unprocessable()
    delete container[key]
  }
}

/** The items behind a place move when something is put there or taken away. */
function countMoved(state: State, items: number): void {
  state.movedItems += items
  if (state.movedItems > maxMovedItems) throw tooManyValues()
}

/** The value at a place; a member that is not there counts as null. */
function at(state: State, path: Pointer): unknown {
  const { container, key } = place(state, path)
  return entry(container, key)
}

/** What holds the place, and the place in it. */
function place({ root }: State, path: Pointer): { readonly container: Container; readonly key: string } {
  let container: Container = root
  let key = '0'
  for (const token of path) {
    const value = entry(container, key)
    if (!isContainer(value)) throw unprocessable()
    container = value
    key = token
  }
  return { container, key }
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

function entry(container: Container, key: string): unknown {
  if (Array.isArray(container)) return container[toIndex(key, container.length)]
  return entryOf(container, key) ?? null
}

/** The index that a token means among so many, as Go reads numbers. A negative one counts from the end. */
function toIndex(token: string, count: number): number {
  if (!/^[+-]?\d+$/.test(token)) throw unprocessable()
  const number = Number(token)
  const index = number < 0 ? count + number : number
  if (index < 0 || index >= count) throw unprocessable()
  return index
}
