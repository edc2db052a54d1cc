// docs/flags.md and --help, held to what the program takes. That the page is what its settings make is tested with the
// other generated files.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defineCommand, flagName, variableName } from '../../src/roles/command.ts'
import { commands } from '../../src/roles/program.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { codeBlocks } from '../support/markdown.ts'

const page = 'docs/flags.md'
const known = Object.entries(commands)
/** Where tests read variables of their own. */
const ofTests = 'test/support/go-module.ts'
const pages = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => join('docs', name)),
]

function help(...args: readonly string[]): string {
  const ran = spawnSync(process.execPath, ['src/main.ts', ...args, '--help'], { encoding: 'utf8' })
  expect(ran.status).toBe(0)
  return ran.stdout.replace(/\s+/g, ' ')
}

describe('the help', () => {
  it('names every command', () => {
    const text = [help(), help('token'), help('authority'), help('store'), help('dns')].join(' ')
    for (const [path, { description }] of known) {
      expect(text).toContain(` ${path.split(' ').at(-1)} [options] ${description}`)
    }
  })

  it.each(known)('of isthmus %s tells of every setting', (path, { settings }) => {
    const text = help(...path.split(' '))
    for (const [key, setting] of Object.entries(settings)) {
      expect(text).toContain(`--${flagName(key)} <${setting.placeholder}> ${setting.description}`)
      expect(text).toContain(`(env: ${variableName(key)}`)
      if (setting.default !== undefined) expect(text).toContain(`default: ${setting.default})`)
    }
    expect(text).toContain('--config <FILE>')
    expect(text).toContain('ISTHMUS_CONFIG')
  })
})

describe('the documentation of settings', () => {
  it('shows a config file that its command takes', async () => {
    const [block = ''] = codeBlocks(readFileSync(page, 'utf8'), 'yaml')
    const [, name = ''] = /^# isthmus (\S+) /.exec(block) ?? []
    const definition = commands[name]
    if (definition === undefined) throw new Error(`no command ${name}`)
    const folder = temporaryFolder()
    const file = join(folder.path, 'config.yaml')
    writeFileSync(file, block)
    let read: unknown
    const run = async (values: unknown): Promise<void> => {
      read = values
    }
    await defineCommand({ ...definition, run }, {}).parseAsync(['--config', file], { from: 'user' })
    expect(read).toMatchObject({
      home: '/var/lib/isthmus',
      advertise: ['https://hub.example.com:7443'],
      logLevel: 'warn',
    })
    folder.dispose()
  })

  it.each(pages)('%s names only variables that there are', file => {
    const variables = new Set(known.flatMap(([, { settings }]) => Object.keys(settings).map(variableName)))
    for (const [, name = ''] of readFileSync(ofTests, 'utf8').matchAll(/process\.env\.(ISTHMUS_\w+)/g))
      variables.add(name)
    const named = [...readFileSync(file, 'utf8').matchAll(/ISTHMUS_\w+/g)].map(([name]) => name)
    expect(named.filter(name => name !== 'ISTHMUS_CONFIG' && !variables.has(name))).toEqual([])
  })

  it.each(pages)('%s calls commands with flags that they have', file => {
    const calls = [...readFileSync(file, 'utf8').matchAll(callsOf)]
    const wrong = calls.flatMap(([, path = '', rest = '']) => {
      const settings = commands[path]?.settings ?? {}
      const flags = new Set(['config', 'help', ...Object.keys(settings).map(flagName)])
      return [...rest.matchAll(/--([a-z-]+)/g)].filter(([, flag = '']) => !flags.has(flag))
    })
    expect(wrong.map(([flag]) => flag)).toEqual([])
  })

  it('is of all variables that the sources read', () => {
    const read = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts'))
      .flatMap(file => [...readFileSync(join('src', file), 'utf8').matchAll(/\bISTHMUS_[A-Z_]+/g)])
    const text = readFileSync(page, 'utf8')
    for (const [name] of read) expect(text).toContain(name)
  })
})

/** What follows a command on its line and on those that a backslash joins to it. */
const callsOf = new RegExp(
  `\\bisthmus (${Object.keys(commands)
    .sort((a, b) => b.length - a.length)
    .join('|')})\\b((?:[^\\n\`]*\\\\\\n)*[^\\n\`]*)`,
  'g',
)
