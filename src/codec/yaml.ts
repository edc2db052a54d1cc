/**
 * YAML as sigs.k8s.io/yaml reads and writes it: YAML 1.1 scalars (`yes` is true, times stay strings), one document,
 * only what JSON can say.
 */
import {
  Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Tags,
  visit,
  type YAMLMap,
} from 'yaml'
import { badRequest, StatusError, tooLarge } from '../kernel/errors.ts'
import { canonicalInteger, canonicalNumber, replaced } from '../kernel/json.ts'
import { maxDepth, type Parsed } from './json.ts'

/** How much the aliases of a document may multiply it. */
const maxAliasCount = 100
const maxDuplicates = 100

/** Tags of YAML 1.1 that sigs.k8s.io/yaml does not turn into other values. */
const unread = new Set([
  'tag:yaml.org,2002:timestamp',
  'tag:yaml.org,2002:omap',
  'tag:yaml.org,2002:pairs',
  'tag:yaml.org,2002:set',
  'tag:yaml.org,2002:binary',
])

function withoutUnread(tags: Tags): Tags {
  return tags.filter(tag => typeof tag === 'string' || !(unread.has(tag.tag) || tag.format === 'TIME'))
}

/** A text that is not JSON is read at about 1 MB/s, and nothing else happens meanwhile. */
export const maxYamlBytes = 1024 * 1024

function withoutMerge(tags: Tags): Tags {
  return tags.filter(tag => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:merge')
}

/** Throws BadRequest, and 413 above `maxYamlBytes`. */
export function parseYaml(source: string | Buffer): Parsed {
  if (Buffer.byteLength(source) > maxYamlBytes) throw tooLarge(maxYamlBytes)
  const text = typeof source === 'string' ? source : source.toString('utf8')
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof StatusError) throw error
    if (error instanceof RangeError) throw badRequest('yaml: exceeded max depth')
    throw badRequest(`yaml: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function parse(text: string): Parsed {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    version: '1.1',
    merge: true,
    intAsBigInt: true,
    uniqueKeys: false,
    logLevel: 'error',
    // Whoever sends a million faults must not make us look for the line of each.
    prettyErrors: false,
    lineCounter: lines,
    customTags: withoutUnread,
  })
  const problem = document.errors[0]
  if (problem !== undefined) {
    const { line } = lines.linePos(problem.pos[0])
    throw badRequest(`yaml: line ${line}: ${problemText(problem.message)}`)
  }
  const value: unknown = document.toJS({ maxAliasCount })
  refuseDeep(value)
  return { value: replaced(value, toJsonScalar), duplicates: duplicateKeys(document) }
}

function problemText(text: string): string {
  if (text.startsWith('Maximum call stack')) return 'exceeded max depth'
  if (text.startsWith('Source contains multiple documents')) return 'expected a single document'
  return text.slice(0, 200)
}

/** A number in its one form. Throws for what JSON cannot say. */
function toJsonScalar(scalar: unknown): unknown {
  if (typeof scalar === 'string') return wellFormed(scalar)
  const value = typeof scalar === 'bigint' ? canonicalInteger(scalar) : scalar
  if (typeof value !== 'number') return value
  if (!Number.isFinite(value)) throw badRequest(`yaml: json: unsupported value: ${String(value)}`)
  return canonicalNumber(value)
}

/** Half a pair of surrogates can only come from an escape, and is none to Go's reader. */
function wellFormed(text: string): string {
  if (text.isWellFormed()) return text
  throw badRequest('yaml: found invalid Unicode character escape code')
}

function refuseDeep(root: unknown): void {
  let level: readonly unknown[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) throw badRequest('yaml: exceeded max depth')
    level = level.flatMap(value => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
}

/** Paths of keys that stand more than once in one mapping. */
function duplicateKeys(document: Document): readonly string[] {
  const found = new Set<string>()
  const open: { readonly node: unknown; readonly path: string }[] = [{ node: document.contents, path: '' }]
  for (let top = open.pop(); top !== undefined; top = open.pop()) {
    const { node, path } = top
    if (isMap(node)) {
      for (const [key, value] of keysOf(node, path, found)) open.push({ node: value, path: key })
    } else if (isSeq(node)) {
      node.items.forEach((item, index) => {
        if (!isAlias(item)) open.push({ node: item, path: `${path}[${index}]` })
      })
    }
  }
  return [...found]
}

function keysOf(map: YAMLMap, path: string, found: Set<string>): readonly (readonly [string, unknown])[] {
  const seen = new Set<string>()
  return map.items.map(pair => {
    const key = wellFormed(isScalar(pair.key) ? String(pair.key.value) : String(pair.key))
    const whole = path === '' ? key : `${path}.${key}`
    if (seen.has(key) && key !== '<<' && found.size < maxDuplicates) found.add(whole)
    seen.add(key)
    return [whole, pair.value]
  })
}

/** Keys sorted, lists not indented, strings quoted where YAML 1.1 would read something else. */
export function toYaml(value: unknown): string {
  const document = new Document(value, {
    version: '1.1',
    aliasDuplicateObjects: false,
    sortMapEntries: true,
    customTags: withoutMerge,
  })
  visit(document, {
    Scalar: (_, node) => {
      // Readers take this word for more than a word, unless it is in quotes.
      if (node.value === '<<') node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ indentSeq: false, lineWidth: 0 })
}
