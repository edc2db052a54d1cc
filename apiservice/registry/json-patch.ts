/**
 * JSON Patch (RFC 6902) with the bounds of kube-apiserver. Keys may have any name: `__proto__` and `constructor` are
 * data here.
 */
import { isDeepStrictEqual } from 'node:util'
import { entryOf, isRecord, setEntry } from '../../src/api/record.ts'
import {
  badRequest,
  tooLarge,
  tooManyOperations,
  tooManyValues,
  unprocessable,
} from '../../src/kernel/errors.ts'
import { fromJson } from '../../src/kernel/json.ts'

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

/** Throws 400 unless it is a list, 413 for too many operations, 422 for an operation that is none. */
export function jsonPatch(document: unknown): readonly Operation[] {
  if (!Array.isArray(document)) throw badRequest('error decoding patch: a JSON patch is a list of operations')
  if (document.length > maxOperations) throw tooManyOperations(document.length, maxOperations)
  return document.map(toOperation)
}

function toOperation(raw: unknown): Operation {
  if (!isRecord(raw)) throw badRequest('error decoding patch: an operation of a JSON patch is an object')
  const { op, path, from, value } = raw
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      if (value === undefined) throw unprocessable()
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

function toPointer(text: unknown): Pointer {
  if (typeof text !== 'string' || /^[^/]|~(?![01])/.test(text)) throw unprocessable()
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
      at(state, path)
      put(state, path, structuredClone(operation.value))
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

/** A value that is not there counts as null, as in kube-apiserver. */
function test(state: State, path: Pointer, expected: unknown): void {
  const { container, key } = place(state, path)
  if (!isDeepStrictEqual(entry(container, key) ?? null, expected)) throw unprocessable()
}

function move(state: State, from: Pointer, path: Pointer): void {
  const isInside = from.length < path.length && from.every((token, i) => token === path[i])
  if (isInside) throw unprocessable()
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
  if (!Array.isArray(container)) setEntry(container, key, value)
  else if (path.length === 0) container[0] = value
  else {
    const index = key === '-' ? container.length : toIndex(key)
    if (index === undefined || index > container.length) throw unprocessable()
    countMoved(state, container.length - index)
    container.splice(index, 0, value)
  }
}

function put(state: State, path: Pointer, value: unknown): void {
  const { container, key } = place(state, path)
  if (Array.isArray(container)) container[Number(key)] = value
  else setEntry(container, key, value)
}

function remove(state: State, path: Pointer): void {
  at(state, path)
  if (path.length === 0) throw unprocessable()
  const { container, key } = place(state, path)
  if (!Array.isArray(container)) delete container[key]
  else {
    countMoved(state, container.length - Number(key))
    container.splice(Number(key), 1)
  }
}

/** The items behind a place move when something is put there or taken away. */
function countMoved(state: State, items: number): void {
  state.movedItems += items
  if (state.movedItems > maxMovedItems) throw tooManyValues()
}

/** The value at a place that must be there. */
function at(state: State, path: Pointer): unknown {
  const { container, key } = place(state, path)
  const value = entry(container, key)
  if (value === undefined) throw unprocessable()
  return value
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
  if (Array.isArray(container)) {
    const index = toIndex(key)
    return index === undefined ? undefined : container[index]
  }
  return entryOf(container, key)
}

function toIndex(key: string): number | undefined {
  return /^(0|[1-9]\d{0,8})$/.test(key) ? Number(key) : undefined
}
