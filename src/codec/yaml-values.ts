/**
 * From the nodes of a YAML document to what sigs.k8s.io/yaml makes of them: the last of equal keys wins, merged keys count
 * where their `<<` stands, aliases are read again at each place.
 */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { setEntry } from '../api/record.ts'
import { badRequest } from '../kernel/errors.ts'
import { maxWeight, type Parsed } from './json.ts'
import { jsonOf, keyOf, type Scalar as Read, tagged, untagged } from './yaml-scalars.ts'

const maxDuplicates = 100
const mergeTag = 'tag:yaml.org,2002:merge'

/** Throws BadRequest for what JSON cannot say. */
export function valuesOf(document: Document, text: string): Parsed {
  const reader = new Reader(text)
  const value = reader.read(document.contents, '')
  return { value, duplicates: [...reader.duplicates] }
}

/** An object that is being made: which keys it has, told apart by type. */
type Target = { readonly value: Record<string, unknown>; readonly seen: Set<string>; readonly path: string }

class Reader {
  readonly duplicates = new Set<string>()
  readonly #text: string
  readonly #hasSurrogates: boolean
  readonly #anchors = new Map<string, Node>()
  /** What each alias stands for: that of the moment when it was first met. */
  readonly #targets = new Map<Alias, Node>()
  readonly #open = new Set<Node>()
  #aliased = 0

  constructor(text: string) {
    this.#text = text
    this.#hasSurrogates = surrogate.test(text)
  }

  read(node: unknown, path: string): unknown {
    if (isAlias(node)) return this.#through(node, target => this.read(target, path))
    this.#meet(node)
    if (isScalar(node)) return jsonOf(this.#scalar(node))
    if (isMap(node)) return this.#readMap(node, path)
    if (isSeq(node)) return node.items.map((item, index) => this.read(item, `${path}[${index}]`))
    return null
  }

  #meet(node: unknown): void {
    if (this.#open.size > 0 && ++this.#aliased > maxWeight)
      throw badRequest('yaml: document contains excessive aliasing')
    if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined && this.#open.size === 0)
      this.#anchors.set(node.anchor, node)
  }

  #through<T>(alias: Alias, read: (target: Node) => T): T {
    const target = this.#targets.get(alias) ?? this.#anchors.get(alias.source)
    if (target === undefined) throw badRequest(`yaml: unknown anchor '${alias.source}' referenced`)
    if (this.#open.has(target)) throw badRequest(`yaml: anchor '${alias.source}' value contains itself`)
    this.#targets.set(alias, target)
    this.#open.add(target)
    const value = read(target)
    this.#open.delete(target)
    return value
  }

  #scalar(node: Scalar): Read {
    const text = String(node.value ?? '')
    const { tag } = node
    if (this.#hasSurrogates && node.type === 'QUOTE_DOUBLE') this.#refuseSurrogates(node)
    if (tag !== undefined) return tagged(text, tag)
    return node.type === undefined || node.type === 'PLAIN' ? untagged(text) : { type: 'str', value: text }
  }

  /** Go's reader takes none of them, and no pair of them. */
  #refuseSurrogates({ range }: Scalar): void {
    if (range && surrogate.test(this.#text.slice(range[0], range[1])))
      throw badRequest('yaml: found invalid Unicode character escape code')
  }

  #readMap(map: YAMLMap, path: string): unknown {
    const target: Target = { value: {}, seen: new Set(), path }
    this.#fill(target, map)
    return target.value
  }

  #fill(target: Target, map: YAMLMap): void {
    for (const { key, value } of map.items) {
      if (isMerge(key)) this.#merge(target, value)
      else this.#set(target, this.#key(key), value)
    }
  }

  #set({ value: record, seen, path }: Target, key: Read, node: unknown): void {
    const name = keyOf(key)
    const place = path === '' ? name : `${path}.${name}`
    const identity = `${key.type} ${name}`
    if (seen.has(identity) && this.duplicates.size < maxDuplicates) this.duplicates.add(place)
    seen.add(identity)
    setEntry(record, name, this.read(node, place))
  }

  #key(node: unknown): Read {
    if (isAlias(node)) return this.#through(node, target => this.#key(target))
    this.#meet(node)
    if (isMap(node) || isSeq(node)) throw badRequest('yaml: invalid map key')
    return isScalar(node) ? this.#scalar(node) : untagged('')
  }

  #merge(target: Target, source: unknown): void {
    this.#meet(source)
    // Of maps in a list the first has the last word.
    const sources: readonly unknown[] = isSeq(source) ? source.items.toReversed() : [source]
    for (const item of sources) this.#mergeOne(target, item)
  }

  #mergeOne(target: Target, source: unknown): void {
    if (isAlias(source)) {
      this.#through(source, found => this.#mergeOne(target, found))
      return
    }
    if (!isMap(source)) throw badRequest('yaml: map merge requires map or sequence of maps as the value')
    this.#meet(source)
    this.#fill(target, source)
  }
}

/** An escape that is half a pair, or one of a pair. */
const surrogate = /(?<!\\)(?:\\\\)*\\(?:u|U0000)[dD][89a-fA-F]/

function isMerge(key: unknown): boolean {
  if (!isScalar(key) || key.value !== '<<') return false
  return key.tag === mergeTag || (key.tag === undefined && key.type === 'PLAIN')
}
