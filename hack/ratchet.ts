// The size ratchet: numbers that may only improve. `node hack/ratchet.ts` compares, `--tighten` writes better ones.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Figures = Readonly<Record<string, number>>

const limits = join(import.meta.dirname, 'ratchet.json')
const product = ['src', 'apiservice', 'dns']

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => readFileSync(join(folder, name), 'utf8'))
}

function count(texts: readonly string[], pattern: RegExp): number {
  return texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0)
}

/** Percent of the product's lines that stand in more than one place. */
function duplicatedPercent(): number {
  const output = join(tmpdir(), `isthmus-duplicates-${process.pid}`)
  const options = ['--min-lines', '5', '--min-tokens', '50', '--format', 'typescript', '--silent']
  spawnSync('jscpd', [...options, '--reporters', 'json', '--output', output, ...product])
  const report = JSON.parse(readFileSync(join(output, 'jscpd-report.json'), 'utf8'))
  rmSync(output, { recursive: true, force: true })
  return Number(report.statistics.total.percentage)
}

function measure(): Figures {
  const texts = product.flatMap(sources)
  const lines = texts.reduce((sum, text) => sum + text.split('\n').length, 0)
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
  const casts =
    count(texts, /\bas (?!const\b)[A-Z{(<]/g) + count(texts, /\bas (unknown|never|string|number|boolean)\b/g)
  return {
    'files over 300 lines': texts.filter(text => text.split('\n').length > 300).length,
    'casts per 1000 lines': Math.round((casts / lines) * 10_000) / 10,
    'todo comments': count(texts, /\b(TODO|FIXME|XXX)\b/g),
    'lint suppressions': count(texts, /biome-ignore/g),
    'duplicated percent': duplicatedPercent(),
    'run-time dependencies': Object.keys(manifest.dependencies).length,
  }
}

const measured = measure()
const allowed: Figures = JSON.parse(readFileSync(limits, 'utf8'))
const worse = Object.entries(measured).filter(([name, value]) => value > (allowed[name] ?? 0))
for (const [name, value] of worse) {
  process.stdout.write(`ratchet: ${name}: ${value}, at most ${allowed[name] ?? 0} allowed\n`)
}
if (process.argv.includes('--tighten')) {
  const best = Object.entries(measured).map(([name, value]) => [
    name,
    Math.min(value, allowed[name] ?? value),
  ])
  writeFileSync(limits, `${JSON.stringify(Object.fromEntries(best), null, 2)}\n`)
}
process.exit(worse.length === 0 ? 0 : 1)
