// Every sentence of docs/operations.md that keeps a process from starting, as the program really prints it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { Level } from 'level'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatKey } from '../../apiservice/store/level-format.ts'
import { MemberClusterKind } from '../../src/api/kinds/member-cluster.ts'
import { resource } from '../../src/cluster/cluster.ts'
import { never } from '../../src/kernel/abort.ts'
import { fakeEtcd } from '../support/fake-etcd.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { contextClient } from '../support/fleet-client.ts'
import { plain, sectionText, tableRows } from '../support/markdown.ts'
import { listenAt, type RoleProcess, runRole, runToEnd, startRole } from '../support/role-process.ts'

const rows = tableRows(sectionText('docs/operations.md', 'Why a process does not start'))
const sentences = rows.map(([sentence = '']) => plain(sentence))

/** Words in capitals stand for anything. */
function patternOf(sentence: string): RegExp {
  const literal = sentence.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^isthmus: ${literal.replace(/\b(?!TCP|UDP)[A-Z]+\b/g, '.+')}$`)
}

const folder = temporaryFolder()
const at = (...names: readonly string[]): string => join(folder.path, ...names)
let port: number
let hub: RoleProcess
let taken: Server

beforeAll(async () => {
  port = await freePorts()
  hub = await startRole(['hub', ...listenAt(at('hub'), port)])
  await runToEnd(member('used', { join: await token('--cluster', 'used') }), /"joined|^ready/)
  taken = createServer().listen(port + 1, '127.0.0.1')
}, 120_000)
afterAll(async () => {
  for (const etcd of etcds) etcd.stop()
  taken.close()
  await hub.stop()
  folder.dispose()
})

function token(...args: readonly string[]): Promise<string> {
  return runRole(['token', 'create', '--home', at('hub'), ...args])
}

const etcds: Awaited<ReturnType<typeof fakeEtcd>>[] = []
async function etcdThat(answers: Parameters<typeof fakeEtcd>[0]): Promise<string> {
  const etcd = await fakeEtcd(answers)
  etcds.push(etcd)
  return `etcd://127.0.0.1:${etcd.port}`
}

/** A store that a process has, of which is heard again and again. */
function etcdInUse(prefix: string): Promise<string> {
  const values: Readonly<Record<string, object>> = {
    [`${prefix}/format`]: { format: 1, schema: 1 },
    [`${prefix}/floor`]: { revision: 1 },
    [`${prefix}/lock`]: { process: 7, machine: 'other', since: '2026-01-02T03:04:05Z', lease: 1 },
  }
  let TTL = 1
  return etcdThat({
    range: asked => {
      const key = asked.endsWith('/') ? `${asked}format` : asked
      const value = values[key]
      if (value === undefined) return {}
      const kvs = [{ key: Buffer.from(key), value: Buffer.from(JSON.stringify(value)), modRevision: 1 }]
      return { kvs, count: 1 }
    },
    leaseTime: () => ({ TTL: TTL++ }),
  })
}

type MemberOptions = { readonly home?: string; readonly join?: string }

function member(id: string, { home = id, join: joining }: MemberOptions = {}): readonly string[] {
  const args = ['--cluster-id', id, ...listenAt(at(home), port + 2)]
  return ['member', ...args, ...(joining === undefined ? [] : ['--join', joining])]
}

function server(home: string, ...args: readonly string[]): readonly string[] {
  return ['apiserver', ...listenAt(at(home), port + 2), ...args]
}

function dns(...args: readonly string[]): readonly string[] {
  const ports = ['--port', String(port + 3), '--probe-port', String(port + 4)]
  return ['dns', '--home', at('dns'), '--host', '127.0.0.1', ...ports, ...args]
}

type Files = { readonly certificate?: string; readonly key?: string }

/** Behind the hub, which may stand for a kube-apiserver until the server would ask it for something. */
function behind({ certificate, key }: Files, kubeconfig = 'hub/kubeconfig'): readonly string[] {
  const named = (flag: string, file?: string): readonly string[] =>
    file === undefined ? [] : [flag, at(file)]
  const files = [...named('--tls-cert-file', certificate), ...named('--tls-private-key-file', key)]
  return server('new', '--kubeconfig', at(kubeconfig), ...files)
}

/** Of somebody who may do nothing at the hub. */
function strangersKubeconfig(): string {
  const cluster = { server: `https://127.0.0.1:${port}`, 'certificate-authority': at('hub/pki/ca.crt') }
  const kubeconfig = {
    'current-context': 'hub',
    contexts: [{ name: 'hub', context: { cluster: 'hub', user: 'nobody' } }],
    clusters: [{ name: 'hub', cluster }],
    users: [{ name: 'nobody', user: {} }],
  }
  writeFileSync(at('strangers.kubeconfig'), JSON.stringify(kubeconfig))
  return 'strangers.kubeconfig'
}

/** A home with a store that nobody uses. */
async function usedHome(home: string): Promise<void> {
  expect((await runToEnd(server(home), /^ready/)).code).toBe(0)
}

async function database(path: string, key: string, value: string): Promise<void> {
  const db = new Level<string, string>(path)
  await db.put(key, value)
  await db.close()
}

type Failure = readonly [sentence: RegExp, call: () => Promise<readonly string[]> | readonly string[]]

const failures: readonly Failure[] = [
  [/ is in use; /, () => ['hub', ...listenAt(at('new'), port + 1)]],
  [/no such address/, () => ['hub', '--home', at('new'), '--host', '192.0.2.1', '--port', String(port + 2)]],
  [/ is above /, () => ['fleet', '--home', at('new'), '--port', '65535']],
  [/cannot be written/, () => server('hub/kubeconfig/below')],
  [/in use by another process/, () => server('hub')],
  [
    /and this one must have it alone/,
    async () => server('fresh', '--store', await etcdInUse('/isthmus/local')),
  ],
  [
    /which must have it alone/,
    async () => ['hub', ...listenAt(at('fresh'), port + 2), '--store', await etcdInUse('/isthmus/hub')],
  ],
  [
    /is damaged and is left/,
    async () => {
      await usedHome('damaged')
      writeFileSync(at('damaged/store/CURRENT'), 'MANIFEST-999999\n')
      return server('damaged')
    },
  ],
  [
    /newer release/,
    async () => {
      mkdirSync(at('newer'))
      await database(at('newer/store'), formatKey.toString(), JSON.stringify({ format: 99, schema: 1 }))
      return server('newer')
    },
  ],
  [
    /not an Isthmus store/,
    async () => {
      mkdirSync(at('foreign'))
      await database(at('foreign/store'), 'a', 'b')
      return server('foreign')
    },
  ],
  [
    /store directory .* cannot be used/,
    () => {
      mkdirSync(at('blocked'))
      writeFileSync(at('blocked/store'), '')
      return server('blocked')
    },
  ],
  [
    /^the authority/,
    async () => {
      await usedHome('unsigned')
      rmSync(at('unsigned/pki/ca.key'))
      return server('unsigned')
    },
  ],
  [/^FILE is of the member/, () => member('other', { home: 'used' })],
  [
    /^FILE is damaged/,
    () => {
      mkdirSync(at('torn/hub'), { recursive: true })
      writeFileSync(at('torn/hub/hub.json'), readFileSync(at('used/hub/hub.json'), 'utf8').slice(0, 99))
      return member('torn')
    },
  ],
  [
    /^--clusterset-cidr/,
    () => ['fleet', '--home', at('new'), '--port', String(port + 2), '--clusterset-cidr', '10.96.0.0/12'],
  ],
  [/has not joined yet/, () => member('new')],
  [
    /^the hub has removed/,
    async () => {
      expect((await runToEnd(member('gone', { join: await token() }), /^ready/)).code).toBe(0)
      const client = await contextClient(at('hub/kubeconfig'), 'hub')
      await client.delete(resource(MemberClusterKind), { name: 'gone' }, { signal: never })
      client.close()
      return member('gone')
    },
  ],
  [/not of the form/, () => member('new', { join: 'isthmus://x' })],
  [/does not take the join token/, async () => member('new', { join: mistyped(await token()) })],
  [
    /is another hub/,
    async () => member('new', { join: (await token()).replace(/[0-9a-f]{8}@/, '00000000@') }),
  ],
  [
    /was used already/,
    async () => {
      const joining = await token()
      expect((await runToEnd(member('first', { join: joining }), /^ready/)).code).toBe(0)
      return member('second', { join: joining })
    },
  ],
  [/is for the cluster/, async () => member('new', { join: await token('--cluster', 'other') })],
  [/ is taken; /, async () => member('used', { home: 'new', join: await token() })],
  [/^kubeconfig .* cannot be read/, () => ['token', 'create', '--home', at('nothing')]],
  [/has no context/, () => dns('--kubeconfig', at('hub/kubeconfig'), '--context', 'other')],
  [/^this is no pod/, () => server('new', '--kubeconfig', 'in-cluster')],
  [/^--tls-cert-file .* given together/, () => server('new', '--tls-cert-file', 'tls.crt')],
  [/^the store in etcd.* cannot be opened/, () => server('fresh', '--store', `etcd://127.0.0.1:${port + 5}`)],
  [
    /is of release N/,
    async () => server('fresh', '--store', await etcdThat({ status: { version: '3.5.12' } })),
  ],
  [
    /holds something else/,
    async () => {
      const others = [{ key: Buffer.from('/isthmus/local/x') }]
      const range = (key: string): object => (key.endsWith('/') ? { kvs: others, count: 1 } : {})
      return server('fresh', '--store', await etcdThat({ range }))
    },
  ],
  [
    /was not restored to its end/,
    async () => {
      const marker = Buffer.from(JSON.stringify({ format: 2, schema: 1, isWhole: false }))
      const kvs = [{ key: Buffer.from('/isthmus/local/format'), value: marker, modRevision: 1 }]
      return server('fresh', '--store', await etcdThat({ range: { kvs, count: 1 } }))
    },
  ],
  [
    /are in etcd:.* start it with --store/,
    () => {
      mkdirSync(at('elsewhere'))
      writeFileSync(at('elsewhere/store-in-etcd'), 'etcd://127.0.0.1:1/isthmus/local\n')
      return server('elsewhere')
    },
  ],
  [
    /are in DIR: start it without --store/,
    async () => {
      await usedHome('here')
      return server('here', '--store', 'etcd://127.0.0.1:1')
    },
  ],
  [/^--etcd-prefix, .* need --store/, () => server('new', '--etcd-prefix', '/x')],
  [
    /^--etcd-certfile .* given together/,
    () => server('new', '--store', 'etcd://127.0.0.1:1', '--etcd-certfile', at('hub/pki/serving.crt')),
  ],
  [/^--FLAG is for a server/, () => server('new', '--authorization-kubeconfig', 'x')],
  [/no certificate for the key/, () => behind({ certificate: 'hub/pki/serving.crt', key: 'hub/pki/ca.key' })],
  [/is not for NAME/, () => behind({ certificate: 'hub/pki/serving.crt', key: 'hub/pki/serving.key' })],
  [/bind the Role/, () => behind({}, strangersKubeconfig())],
  [/^--audit-policy-file needs/, () => server('new', '--audit-log-path', '-')],
  [
    /^--leader-elect-lease-duration must/,
    () => ['hub', '--home', at('new'), '--leader-elect-lease-duration', '5s'],
  ],
  [
    /^--leader-elect-renew-deadline must/,
    () => ['hub', '--home', at('new'), '--leader-elect-retry-period', '9s'],
  ],
  [/client-id need each other/, () => ['hub', '--home', at('new'), '--oidc-client-id', 'x']],
  [/ is needed: /, () => ['member', '--home', at('new')]],
  [/^WHERE must/, () => server('new', '--service-cidr', '10.0.0.0/8,10.1.0.0/16')],
  [/^the config file .* cannot be read/, () => server('new', '--config', at('nothing'))],
  [/must hold names and values/, () => server('new', '--config', configFile('- home'))],
  [/is no setting of this command/, () => server('new', '--config', configFile('homes: x'))],
]

const withoutRights = /may not be used by this user/
/** Root may use every port; nobody is a user that may not. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const portsFile = '/proc/sys/net/ipv4/ip_unprivileged_port_start'
const firstFreePort = existsSync(portsFile) ? Number(readFileSync(portsFile, 'utf8')) : 1024

function mistyped(text: string): string {
  return text.replace(/\.(.)/, (_, letter: string) => (letter === 'A' ? '.B' : '.A'))
}

function configFile(text: string): string {
  const path = at(`config-${text.length}.yaml`)
  writeFileSync(path, text)
  return path
}

describe('the sentences', () => {
  it('are all provoked here, each once', () => {
    const known = [...failures.map(([sentence]) => sentence), withoutRights]
    const counts = sentences.map(sentence => known.filter(pattern => pattern.test(sentence)).length)
    expect(sentences.filter((_, index) => counts[index] !== 1)).toEqual([])
    expect(known.filter(pattern => !sentences.some(sentence => pattern.test(sentence)))).toEqual([])
  })

  it.each(failures)('%s', { timeout: 60_000 }, async (sentence, call) => {
    const { code, output } = await runToEnd(await call())
    expect(code).toBe(1)
    expectTold(sentence, output)
  })

  it('for a port that needs rights', context => {
    if (firstFreePort < 2) return context.skip('every user may use every port of this machine')
    const args = ['src/main.ts', 'hub', '--home', at('new'), '--host', '127.0.0.1', '--port', '1']
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', ...nobody })
    if (/EACCES|MODULE_NOT_FOUND/.test(stderr)) return context.skip('the program cannot be read by nobody')
    expect(status).toBe(1)
    expectTold(withoutRights, stderr.trim())
  })
})

/** One line, and it is the sentence of the page. */
function expectTold(sentence: RegExp, output: string): void {
  const lines = output.split('\n').filter(line => !line.startsWith('{'))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(patternOf(sentences.find(text => sentence.test(text)) ?? ''))
}
