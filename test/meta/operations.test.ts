// The commands of docs/operations.md, run in order; and what it says of files, ports and certificates.
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../../src/roles/program.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { codeBlocks, plain, sectionText, tableRows } from '../support/markdown.ts'
import { Shell } from '../support/shell.ts'

const page = 'docs/operations.md'
const [setup = '', ...blocks] = codeBlocks(readFileSync(page, 'utf8'), 'sh')
const missing = ['bash', 'kubectl', 'dig', 'curl', 'tar'].filter(
  tool => spawnSync('which', [tool]).status !== 0,
)

const roleOf = /^isthmus (?<command>hub|member|dns) .*?--home \$STATE\/(?<home>\S+)/m
const kubectl = 'kubectl --kubeconfig $STATE'

/** What is done before the block that holds the text, since the page says so in words. */
const before: readonly (readonly [text: string, action: (shell: Shell) => Promise<unknown>])[] = [
  ['isthmus store restore', shell => shell.stop('hub')],
  ['isthmus store check', shell => shell.stop('hub')],
  ['rm -r $STATE/west/hub', shell => shell.stop('west')],
  [
    `${kubectl}/west/kubeconfig delete serviceimports`,
    async shell => {
      await shell.stop('west')
      rmSync(join(folder.path, 'west/hub'), { recursive: true })
      const alone = blockWith('--cluster-id west').replace(/^.*token create.*$| --join.*$/gm, '')
      await shell.start('west', alone.replace('isthmus member', 'isthmus apiserver'))
    },
  ],
]

type Then = { readonly command: string; readonly output: RegExp }

/** What holds afterwards: commands, and what their output must match. */
const after: readonly (readonly [text: string, then: Then])[] = [
  [
    'wait --for=condition=Available',
    { command: `${kubectl}/east/kubeconfig -n shop get serviceexports`, output: /web +True +True/ },
  ],
  // The hub is away.
  [
    'isthmus store check',
    {
      command: `${kubectl}/west/kubeconfig -n shop get serviceimports; dig +short @127.0.0.1 -p 7554 web.shop.svc.clusterset.local`,
      output: /web +ClusterSetIP +\S+ +\S+ +east,west +True[\s\S]*^10\.112\.\d+\.\d+$/m,
    },
  ],
  [
    'isthmus store restore',
    { command: `${kubectl}/hub/kubeconfig get memberclusters`, output: /west +true +True/ },
  ],
  [
    '"namespaces":["shop"]',
    {
      command: `${kubectl}/east/kubeconfig -n shop get serviceimport web`,
      output: /web +ClusterSetIP +\S+ +\S+ +east,west +True/,
    },
  ],
  [
    'NoNewConnections',
    {
      command: `${kubectl}/east/kubeconfig -n shop get endpointslices -l multicluster.kubernetes.io/source-cluster=west,multicluster.kubernetes.io/service-name=web -o jsonpath='{.items[*].endpoints[*].conditions.ready}'`,
      output: /^false false$/,
    },
  ],
  [
    '"accepted":false',
    {
      command: `${kubectl}/east/kubeconfig -n shop get serviceimport web`,
      output: /web +ClusterSetIP +\S+ +\S+ +east +True/,
    },
  ],
  [
    '"accepted":false',
    {
      command: `${kubectl}/west/kubeconfig -n shop get serviceimport web`,
      output: /web +ClusterSetIP +\S+ +\S+ +east,west +True/,
    },
  ],
  [
    '"accepted":true',
    {
      command: `${kubectl}/east/kubeconfig -n shop get serviceimport web`,
      output: /web +ClusterSetIP +\S+ +\S+ +east,west +True/,
    },
  ],
  [
    'rm -r $STATE/west/hub',
    {
      // The token of the last join is the second one.
      command: `${kubectl}/hub/kubeconfig get membercluster west -o jsonpath='{.metadata.annotations}' | grep -o "$(sed 's,^isthmus://,,; s,[.].*,,' $STATE/west-again.token)"`,
      output: /^[a-z2-7]{10}$/m,
    },
  ],
  [
    'delete membercluster',
    {
      command: `${kubectl}/east/kubeconfig -n shop get serviceimport web`,
      output: /web +ClusterSetIP +\S+ +\S+ +east +True/,
    },
  ],
  [
    'delete serviceimports',
    { command: `${kubectl}/west/kubeconfig get serviceimports -A 2>&1`, output: /^No resources found\n$/ },
  ],
  [
    'delete serviceimports',
    {
      command: `${kubectl}/west/kubeconfig -n shop get endpointslices`,
      output: /^(?!.*imported)[\s\S]*web-west/,
    },
  ],
]

/** What must stand in the output of the block that holds the text. */
const outputs: readonly (readonly [text: string, output: RegExp])[] = [
  ['dig +short', /east +true +True[\s\S]*shop\.web +ClusterSetIP[\s\S]*^10\.112\.\d+\.\d+$/m],
  ['/readyz', /^ok[\s\S]*isthmus_hub_members[\s\S]*isthmus_store_revision[\s\S]*isthmus_dns_services/],
  ['store backup', /^saved \d+ objects at revision \d+ in /],
  ['store check', / is whole: \d+ objects at revision \d+, /],
  ['store repair', /^read \d+ records\nnothing is known to be lost\nmade a store of \d+ objects in /],
  ['memberclusters -o wide', /west +true +True .* member-west /],
]

const folder = temporaryFolder()
let shell: Shell

beforeAll(async () => {
  const port = await freePorts()
  shell = new Shell({
    folder: folder.path,
    prelude: setup.replace('node hack/setup.mjs\n', ''),
    adapt: block =>
      block
        .replaceAll('$PWD/.isthmus/separate', folder.path)
        .replaceAll(/\b75(\d\d)\b/g, (_, offset: string) => String(port + Number(offset) - 43)),
  })
})
afterAll(async () => {
  await shell.stopAll()
  folder.dispose()
})

/** What is meant for this block. */
function partsOf<T>(all: readonly (readonly [text: string, part: T])[], block: string): readonly T[] {
  return all.flatMap(([text, part]) => (block.includes(text) ? [part] : []))
}

function blockWith(text: string): string {
  return blocks.find(block => block.includes(text)) ?? ''
}

describe('the commands', () => {
  it('begin with what makes them work', () => {
    expect(setup).toMatch(/^node hack\/setup\.mjs\nexport PATH=\$PWD\/node_modules\/\.bin:\$PATH\n/)
    for (const [text] of [...before, ...after, ...outputs]) expect(blockWith(text), text).not.toBe('')
  })

  it.for(blocks)('run:\n%s', { timeout: 180_000 }, async (block, context) => {
    if (missing.length > 0) return context.skip(`needs ${missing.join(', ')} on the PATH`)
    for (const action of partsOf(before, block)) await action(shell)
    const home = roleOf.exec(block)?.groups?.home
    const output = home === undefined ? await shell.run(block) : await shell.start(home, block)
    for (const pattern of partsOf(outputs, block)) expect(output).toMatch(pattern)
    if (/store restore|hub-repaired \$STATE/.test(block)) await shell.start('hub', blockWith('isthmus hub'))
    for (const { command, output: pattern } of partsOf(after, block)) {
      await eventually(async () => expect(await shell.run(command)).toMatch(pattern), 60_000)
    }
  })
})

describe('what is said of', () => {
  /** Below the home, the files of the store as one. */
  function filesOf(home: string): readonly string[] {
    const files = readdirSync(join(folder.path, home), { recursive: true, withFileTypes: true })
    const paths = files
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name).slice(join(folder.path, home).length + 1))
    return [...new Set(paths.map(path => path.replace(/^store\/.*/, 'store/')))]
  }

  it.for([
    ['hub', 'hub'],
    ['member', 'east'],
    ['dns', 'west-dns'],
  ] as const)('the files in the home of %s', ([role, home], context) => {
    if (missing.length > 0) return context.skip(`needs ${missing.join(', ')} on the PATH`)
    const rows = tableRows(sectionText(page, 'Where state lives'))
    const told = rows.flatMap(([files = '', homes = '']) =>
      homes.split(', ').includes(role) ? files.split(', ').map(plain) : [],
    )
    expect(new Set(filesOf(home))).toEqual(new Set(told))
  })

  it('ports', () => {
    const rows = tableRows(sectionText(page, 'Ports'))
    const settings = rows.map(([port = '', of = '']) => {
      const [, command = '', flag = ''] = /^(\w+), `--(\S+)`$/.exec(of) ?? []
      const key = flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
      return [port.split(' ')[0], commands[command]?.settings[key]?.default]
    })
    expect(settings).toHaveLength(4)
    for (const [told, actual] of settings) expect(told).toBe(actual)
  })

  it('the life of certificates', context => {
    if (missing.length > 0) return context.skip(`needs ${missing.join(', ')} on the PATH`)
    const told = tableRows(sectionText(page, 'Certificates')).map(([, , life]) => life)
    const read = (file: string): string => readFileSync(join(folder.path, file), 'utf8')
    const membership: unknown = JSON.parse(read('east/hub/hub.json'))
    const pems = [read('hub/pki/ca.crt'), read('hub/pki/serving.crt'), read('east/pki/agent.crt')]
    expect([...pems, String(Object(membership).certificate)].map(lifeOf)).toEqual(told)
  })
})

function lifeOf(pem: string): string {
  const { validFrom, validTo } = new X509Certificate(pem)
  const days = Math.round((Date.parse(validTo) - Date.parse(validFrom)) / 86_400_000)
  if (days % 365 !== 0) return `${days} days`
  return days === 365 ? '1 year' : `${days / 365} years`
}
