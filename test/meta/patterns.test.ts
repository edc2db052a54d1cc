// No text of a client makes a regular expression take long: each one of the product is looked at by recheck, which finds
// those that take more than linear time, with the text that does it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkSync } from 'recheck'
import {
  createSourceFile,
  forEachChild,
  isNewExpression,
  isRegularExpressionLiteral,
  type Node,
  ScriptTarget,
} from 'typescript'
import { expect, it, vi } from 'vitest'
import { kinds } from '../../src/api/kinds/index.ts'

type Pattern = { readonly source: string; readonly flags: string; readonly file: string }

/** Where patterns are put together from parts, and how many times. */
const composed = new Map([
  ['src/api/cluster-id.ts', 1],
  ['src/api/names.ts', 1],
  // Those of schemas, which are checked below, and none that a client could send.
  ['src/api/derive/sample.ts', 1],
  ['src/api/derive/structural.ts', 1],
])

const files = ['src', 'apiservice', 'dns'].flatMap(root =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => join(root, name)),
)

function nodesOf(file: string): readonly Node[] {
  const nodes: Node[] = []
  const visit = (node: Node): void => {
    nodes.push(node)
    forEachChild(node, visit)
  }
  visit(createSourceFile(file, readFileSync(file, 'utf8'), ScriptTarget.Latest, true))
  return nodes
}

const trees = files.map(file => ({ file, nodes: nodesOf(file) }))

function literalsOf({ file, nodes }: (typeof trees)[number]): readonly Pattern[] {
  return nodes.filter(isRegularExpressionLiteral).map(({ text }) => {
    const end = text.lastIndexOf('/')
    return { source: text.slice(1, end), flags: text.slice(end + 1), file }
  })
}

function schemaPatterns(value: unknown, file: string): readonly Pattern[] {
  if (typeof value !== 'object' || value === null) return []
  const own =
    'pattern' in value && typeof value.pattern === 'string'
      ? [{ source: value.pattern, flags: 'u', file }]
      : []
  return [...own, ...Object.values(value).flatMap(inner => schemaPatterns(inner, file))]
}

/** What the constructor of regular expressions is given when a module is loaded anew. */
async function constructed(file: string, load: () => Promise<unknown>): Promise<readonly Pattern[]> {
  const made: Pattern[] = []
  const Real = globalThis.RegExp
  globalThis.RegExp = new Proxy(Real, {
    construct(target, [source, flags = '']: [string | RegExp, string?]) {
      made.push({ source: String(source), flags, file })
      return new target(source, flags)
    },
  })
  try {
    vi.resetModules()
    await load()
  } finally {
    globalThis.RegExp = Real
  }
  return made
}

/** What is wrong with it; nothing when its time is linear. */
function faultOf({ source, flags, file }: Pattern): readonly string[] {
  const found = checkSync(source, flags, { timeout: 120_000 })
  if (found.status === 'safe') return []
  const why =
    found.status === 'vulnerable' ? `${found.complexity.summary}: ${found.attack.pattern}` : found.error.kind
  return [`${file}: /${source}/${flags} ${why}`]
}

it('patterns that are put together stand where they are checked', () => {
  const counts = trees
    .map(
      ({ file, nodes }) =>
        [
          file,
          nodes.filter(node => isNewExpression(node) && node.expression.getText() === 'RegExp').length,
        ] as const,
    )
    .filter(([, count]) => count > 0)
  expect(new Map(counts)).toEqual(composed)
})

it('every pattern takes linear time', { timeout: 600_000 }, async () => {
  const patterns = [
    ...trees.flatMap(literalsOf),
    ...kinds.flatMap(kind => schemaPatterns(kind.schema, kind.kind)),
    ...(await constructed('names', () => import('../../src/api/names.ts'))),
    ...(await constructed('cluster ids', () => import('../../src/api/cluster-id.ts'))),
  ]
  expect(patterns.length).toBeGreaterThan(100)
  for (const file of ['names', 'cluster ids'])
    expect(patterns.some(pattern => pattern.file === file)).toBe(true)
  const distinct = new Map(patterns.map(pattern => [`/${pattern.source}/${pattern.flags}`, pattern]))
  expect([...distinct.values()].flatMap(faultOf)).toEqual([])
})

it('one that does not is found', () => {
  expect(faultOf({ source: '\\/+$', flags: '', file: 'x' })).toEqual([expect.stringContaining('polynomial')])
})
