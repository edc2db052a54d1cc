// What the tree promises, as far as a machine can tell.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { kinds } from '../../src/api/kinds/index.ts'

function files(folder: string, ending = '.ts'): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith(ending))
    .map(name => join(folder, name))
}

/** Folders whose code must not know which kind it has. */
const shared = [
  'apiservice/http',
  'apiservice/negotiation',
  'apiservice/registry',
  'apiservice/store',
  'apiservice/discovery',
  'src/api/derive',
  'src/cluster',
  'src/codec',
  'src/kernel',
]

/** Facts of the protocol that happen to name a kind, and why each may stand. */
const protocolFacts = new Map([
  ['src/api/derive/metadata.ts', 'apimachinery refuses v1 Event as an owner, whoever serves it'],
  ['src/api/derive/rbac.ts', 'writes ClusterRoles about every kind'],
  ['src/cluster/event-recorder.ts', 'writes Events about any object'],
])

const keepsTime = new Set([
  'src/kernel/clock.ts',
  // A timer that never fires keeps the process alive.
  'src/roles/process.ts',
])

const productRoots = ['src', 'apiservice', 'dns', 'hack', 'deploy']

describe('house rules', () => {
  it('shared code names no kind', () => {
    // `namespaces` is a segment of every namespaced path.
    const names = kinds.flatMap(kind => [kind.kind, kind.plural]).filter(name => name !== 'namespaces')
    const quoted = new RegExp(`'(${names.join('|')})'`)
    const offences = shared
      .flatMap(folder => files(folder))
      .filter(file => !protocolFacts.has(file))
      .filter(file => {
        const text = readFileSync(file, 'utf8')
        return quoted.test(text) || /from '.*\/kinds\//.test(text)
      })
    expect(offences).toEqual([])
  })

  it('every kind is declared in one file of its own', () => {
    const declared = files('src/api/kinds').filter(file => readFileSync(file, 'utf8').includes('defineKind('))
    expect(declared).toHaveLength(kinds.length)
  })

  it('unit tests lie where their sources do', () => {
    // A test of several files of a folder has a name of its own there.
    const offences = files('test/unit').filter(file => {
      const folder = dirname(relative('test/unit', file))
      return folder === '.' || !(existsSync(folder) || existsSync(`${folder}.ts`))
    })
    expect(offences).toEqual([])
  })

  it('the top level holds what was agreed', () => {
    const tools = [
      '.ci',
      '.git',
      '.gitignore',
      '.npmrc',
      'node_modules',
      'package-lock.json',
      'tsconfig.json',
    ]
    const agreed = ['package.json', 'src', 'apiservice', 'dns', 'deploy', 'test', 'hack', 'README.md']
    const also = ['CHANGELOG.md', 'docs', 'LICENSE', 'Dockerfile', '.dockerignore', '.isthmus']
    const known = new Set([...tools, ...agreed, ...also])
    expect(readdirSync('.').filter(name => !known.has(name))).toEqual([])
    for (const name of agreed) expect(statSync(name)).toBeTruthy()
  })

  it('every dependency is pinned to one version', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
    const versions: string[] = [
      manifest.dependencies,
      manifest.devDependencies,
      manifest.optionalDependencies,
    ].flatMap(group => Object.values(group))
    expect(versions.filter(version => !/^(npm:[a-z-]+@)?\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })

  it('only the clock reads the time or sets timers', () => {
    const timed =
      /\bDate\.now\(|\bnew Date\(\)|(?<![.\w])setTimeout\(|(?<![.\w])setInterval\(|import \{ set(Timeout|Interval)/
    const offences = ['src', 'apiservice', 'dns']
      .flatMap(root => files(root))
      .filter(file => !keepsTime.has(file) && timed.test(readFileSync(file, 'utf8')))
    expect(offences).toEqual([])
  })

  it('decisions are numbered without gap or twice', () => {
    const numbers = readdirSync('hack/adr').map(name => Number(name.slice(0, 4)))
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1))
  })

  it('no file of the product names a path outside the repository', () => {
    const offences = [
      ...productRoots.flatMap(root => files(root)),
      ...files('docs', '.md'),
      'README.md',
    ].filter(file => /\/work\/|\.\.\/shared/.test(readFileSync(file, 'utf8')))
    expect(offences).toEqual([])
  })
})
