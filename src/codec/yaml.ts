/**
 * YAML as sigs.k8s.io/yaml reads and writes it: YAML 1.1 scalars (`yes` is true, times stay strings), the first document,
 * only what JSON can say.
 */
import { Composer, type CST, Document, Lexer, LineCounter, Parser, type Tags, visit } from 'yaml'
import { badRequest, StatusError, tooLarge } from '../kernel/errors.ts'
import { maxWeight, type Parsed } from './json.ts'
import { untagged } from './yaml-scalars.ts'
import { valuesOf } from './yaml-values.ts'

/** A text that is not JSON is read at about 1 MB/s, and nothing else happens meanwhile. */
export const maxYamlBytes = 1024 * 1024
/** An item of a list on a line of its own is five: what has more is too heavy as JSON, too, but costs as much to read. */
const maxTokens = 5 * maxWeight + 1_000
/** As deep as what can be stored; the reader and those behind it call themselves for each level. */
const maxDepth = 1_000
/** What the parser holds besides levels: the document, and what it is at. */
const besidesLevels = 2

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

const unprintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

function parse(text: string): Parsed {
  if (unprintable.test(text)) throw badRequest('yaml: control characters are not allowed')
  const lines = new LineCounter()
  const document = firstOf(tokensOf(text, lines), text.length)
  const [problem] = document.errors
  if (problem !== undefined) {
    const { line } = lines.linePos(problem.pos[0])
    throw badRequest(`yaml: line ${line}: ${problemText(problem.message)}`)
  }
  refuseDirectives(document)
  return valuesOf(document, text)
}

/** What the parser makes of it, until that is too much or too deep. Each level is one more thing that it has not ended. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let count = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > maxTokens) throw badRequest('yaml: the document has too many values')
    yield* parser.next(lexeme)
    if (parser.stack.length > maxDepth + besidesLevels) {
      throw badRequest(`yaml: line ${lines.linePos(parser.offset).line}: exceeded max depth`)
    }
  }
  yield* parser.end()
}

function firstOf(tokens: Iterable<CST.Token>, end: number): Document.Parsed {
  const composer = new Composer({
    version: '1.1',
    // What a scalar is, Go decides in another way.
    schema: 'failsafe',
    uniqueKeys: false,
    logLevel: 'error',
    // Whoever sends many faults must not make us look for the line of each.
    prettyErrors: false,
  })
  for (const document of composer.compose(tokens, true, end)) return document
  throw badRequest('yaml: there is no document')
}

function refuseDirectives({ directives, warnings }: Document.Parsed): void {
  const { explicit = false, version } = directives.yaml
  if (explicit && version !== '1.1') throw badRequest('yaml: found incompatible YAML document')
  if (warnings.some(({ message }) => message.startsWith('Unsupported YAML version')))
    throw badRequest('yaml: found incompatible YAML document')
  if (warnings.some(({ message }) => message.startsWith('Unknown directive')))
    throw badRequest('yaml: found unknown directive name')
}

function problemText(text: string): string {
  return text.startsWith('Maximum call stack') ? 'exceeded max depth' : text.slice(0, 200)
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
      // Readers take such words for more than words, unless they are in quotes.
      if (typeof node.value === 'string' && (node.value === '<<' || untagged(node.value).type !== 'str'))
        node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ indentSeq: false, lineWidth: 0 })
}
