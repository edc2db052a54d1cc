// npm run defects [-- LINE…]: whether the tests of a line find the fault that is listed beside it.
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Proof } from '../test/conventions/elsewhere.ts'
import { allProofs } from '../test/conventions/proofs.ts'
import type { Defect } from '../test/defects/defect.ts'
import { defects } from '../test/defects/defects.ts'
import { root } from './kinds-index.ts'

type Outcome = { readonly failed: number; readonly passed: number }

const runMs = 300_000

const wanted = new Set(process.argv.slice(2).map(Number))
const chosen = defects.filter(({ line }) => wanted.size === 0 || wanted.has(line))
if (chosen.length === 0) throw new Error('no defect is listed for these lines')
const proofs = allProofs(root)
const copy = copyOfTree()
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

const sound = run([...new Set(chosen.flatMap(({ line }) => proofsOf(line)))])
report('without', sound.failed === 0 && sound.passed > 0, `${sound.passed} tests pass, ${sound.failed} fail`)
for (const defect of chosen) check(defect)

function check(defect: Defect): void {
  const path = join(copy, defect.file)
  const text = readFileSync(path, 'utf8')
  const started = performance.now()
  writeFileSync(
    path,
    text.replace(defect.find, () => defect.replace),
  )
  const isFound = isFoundBy(proofsOf(defect.line))
  writeFileSync(path, text)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  report(`line ${defect.line}`, isFound, `${defect.what} (${seconds} s)`)
}

/** A run that ends with its first failure now and then ends before that is written down: then all of it is run. */
function isFoundBy(tests: readonly Proof[]): boolean {
  return run(tests, ['--bail', '1']).failed > 0 || run(tests).failed > 0
}

function report(what: string, isGood: boolean, text: string): void {
  if (!isGood) process.exitCode = 1
  process.stdout.write(`${isGood ? 'ok    ' : 'WRONG '} ${what.padEnd(9)} ${text}\n`)
}

function proofsOf(line: number): readonly Proof[] {
  const found = proofs.get(line) ?? []
  if (found.length === 0) throw new Error(`line ${line} has a defect and no proof`)
  return found
}

/** How many tests failed: a test that could not even be loaded proves nothing, and is not among them. */
function run(tests: readonly Proof[], options: readonly string[] = []): Outcome {
  const output = join(copy, 'outcome.json')
  const files = [...new Set(tests.map(({ file }) => file))]
  const titles = tests.map(({ title }) => patternOf(title)).join('|')
  const ran = spawnSync(
    join(copy, 'node_modules/.bin/vitest'),
    [
      ...['run', '--config', 'hack/config/vitest.ts', '--reporter', 'json', '--outputFile', output],
      ...[...options, '--testNamePattern', titles, ...files],
    ],
    { cwd: copy, stdio: ['ignore', 'ignore', 'inherit'], timeout: runMs, env: { ...process.env, CI: '1' } },
  )
  if (!existsSync(output)) fail(`${endOf(ran)} and left no outcome of ${files.join(', ')}`)
  const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(output, 'utf8'))
  rmSync(output)
  return { failed: numFailedTests, passed: numPassedTests }
}

function endOf({ error, signal, status }: SpawnSyncReturns<Buffer>): string {
  if (error !== undefined && 'code' in error && error.code === 'ETIMEDOUT') {
    return `vitest was not done within ${runMs / 1000} s`
  }
  if (error !== undefined) return `vitest could not be started (${error.message})`
  return signal === null ? `vitest ended with ${status}` : `vitest was ended by ${signal}`
}

function fail(sentence: string): never {
  process.stderr.write(`defects: ${sentence}\n`)
  process.exit(1)
}

/** A title of `it.each` holds `%s` or `$name` for what differs. */
function patternOf(title: string): string {
  return title
    .split(/%[sdij]|\$\w+/)
    .map(part => RegExp.escape(part))
    .join('.*')
}

/** What git knows or would add, so that a defect never touches the tree that people work in. */
function copyOfTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-defects-'))
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  const files = listed.stdout.split('\0').filter(file => file !== '' && existsSync(join(root, file)))
  for (const file of files) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    copyFileSync(join(root, file), join(folder, file))
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}
