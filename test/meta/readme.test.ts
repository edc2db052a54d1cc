// The README's blocks, run in order against a fleet of their own.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Fleet, startFleet, temporaryFolder } from '../support/fleet.ts'

const readme = readFileSync('README.md', 'utf8')
const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(match => match[1] ?? '')
const missing = ['kubectl', 'dig', 'bash'].filter(tool => spawnSync('which', [tool]).status !== 0)

/** What must stand in the output of the block that holds the key; every block must also succeed. */
const expected: readonly (readonly [block: string, output: RegExp])[] = [
  ['get serviceexports', /web .*\n?/],
  ['describe serviceexport checkout', /PortConflict/],
  ['get serviceimports', /web +ClusterSetIP +\S*\d+\.\d+\.\d+\.\d+/],
  ['get endpointslices', /web/],
  ['web.shop.svc.clusterset.local\n', /^\d+\.\d+\.\d+\.\d+\n/],
  ['SRV', /0 \d+ 80 web\.shop\.svc\.clusterset\.local\./],
  ['db-0.east', /\d+\.\d+\.\d+\.\d+\n$/],
]

const folder = temporaryFolder()
let fleet: Fleet | undefined

beforeAll(async () => {
  if (missing.length === 0) fleet = await startFleet({ home: join(folder.path, 'home') })
})

afterAll(async () => {
  await fleet?.stop()
  folder.dispose()
})

function run(block: string, running: Fleet): string {
  const script = block
    .replaceAll('$PWD/.isthmus', running.home)
    .replaceAll(/\b74(\d\d)\b/g, (_, offset: string) => String(running.port + Number(offset) - 43))
  const ran = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
    encoding: 'utf8',
    env: { ...process.env, HOME: folder.path, KUBECONFIG: running.kubeconfig },
    timeout: 60_000,
  })
  if (ran.status !== 0)
    throw new Error(`this block of the README failed:\n${block}\n${ran.stderr}${ran.stdout}`)
  return ran.stdout
}

describe('the README', () => {
  it('starts with npm start', () => {
    expect(blocks[0]).toBe('npm start\n')
    expect(JSON.parse(readFileSync('package.json', 'utf8')).scripts.start).toBe('node src/main.ts fleet')
  })

  it('shows nothing of clusters that the page about them does not have, whose commands a test runs', () => {
    const [block = ''] = [...readme.matchAll(/```text\n([\s\S]*?)```/g)].map(match => match[1])
    const install = readFileSync('docs/install.md', 'utf8')
    const lines = block.split('\n').map(line => line.replace(/ +#.*/, ''))
    expect(lines).toContain('kubectl --context west apply -k deploy/example/west')
    expect(lines.filter(line => !install.includes(line))).toEqual([])
  })

  it('has an expectation for every kind of output that it promises', () => {
    for (const [text] of expected) expect(blocks.join('')).toContain(text)
  })

  it.for(blocks.slice(1))('runs:\n%s', async (block, context) => {
    if (fleet === undefined) return context.skip(`needs ${missing.join(', ')} on the PATH`)
    const running = fleet
    await eventually(() => {
      const output = run(block, running)
      for (const [text, pattern] of expected) if (block.includes(text)) expect(output).toMatch(pattern)
    }, 25_000)
  })

  it('names only files and folders that exist', () => {
    const table = [...readme.matchAll(/^\| (`.*`) \|/gm)].flatMap(row => [
      ...(row[1] ?? '').matchAll(/`([^`]+)`/g),
    ])
    const names = table.map(match => match[1] ?? '')
    const roots = ['', 'apiservice/', 'dns/']
    const absent = names.filter(
      name => !roots.some(root => spawnSync('test', ['-e', root + name]).status === 0),
    )
    expect(names.length).toBeGreaterThan(15)
    expect(absent).toEqual([])
  })

  it('changes nothing when the demo is applied again', context => {
    if (fleet === undefined) return context.skip(`needs ${missing.join(', ')} on the PATH`)
    const apply = blocks.find(block => block.includes('apply -f hack/demo')) ?? ''
    run(apply, fleet)
    const lines = run(apply, fleet).trim().split('\n')
    expect(lines.length).toBeGreaterThan(10)
    expect(lines.filter(line => !line.endsWith(' unchanged'))).toEqual([])
  })
})
