// Whatever is logged: a hub, a member and its DNS at the highest level, with an audit log of everything. Keys and tokens
// stand in the files that are for them, and nowhere else.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MemberClusterKind } from '../../src/api/kinds/member-cluster.ts'
import { NamespaceKind } from '../../src/api/kinds/namespace.ts'
import { ServiceKind } from '../../src/api/kinds/service.ts'
import { ServiceExportKind } from '../../src/api/kinds/service-export.ts'
import { resource } from '../../src/cluster/cluster.ts'
import { never } from '../../src/kernel/abort.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { contextClient } from '../support/fleet-client.ts'
import {
  type Ended,
  listenAt,
  type RoleProcess,
  runRole,
  runToEnd,
  startRole,
} from '../support/role-process.ts'

const everything = `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: RequestResponse
`

/** Files that hold keys, by their path in the home of a hub or member. */
const forKeys =
  /(^|\/)(pki\/[a-z-]+\.key|admin\.key|kubeconfig|dns\.kubeconfig|hub\/hub\.json|hub\/hub-pending\.key)$/

const folder = temporaryFolder()
const homeOf = (name: string): string => join(folder.path, name)
const processes: RoleProcess[] = []
let printed: string
/** What nobody may read, by what it is. */
const secrets = new Map<string, string>()

const filesIn = (path: string): readonly string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map(name => join(path, name))
    .filter(file => statSync(file).isFile())

/** The forms in which a secret could be found: as it is, in base64 as kubeconfigs have it, and as the bytes of a key. */
function formsOf(secret: string): readonly Buffer[] {
  const text = Buffer.from(secret)
  // Of base64 the middle stays the same wherever a text begins; of three beginnings.
  const encoded = [0, 1, 2].map(skip => Buffer.from(text.subarray(skip).toString('base64').slice(4, -8)))
  const isBase64 = /^[A-Za-z0-9+/=]+$/.test(secret)
  return [text, ...encoded, ...(isBase64 ? [Buffer.from(secret, 'base64')] : [])]
}

/** Which secrets are in there. */
function found(bytes: Buffer): readonly string[] {
  return [...secrets]
    .filter(([, secret]) => formsOf(secret).some(form => bytes.includes(form)))
    .map(([what]) => what)
}

/** The middle of the only private part of each key: the second line of its PEM. */
function learnKeys(): void {
  for (const file of filesIn(folder.path).filter(
    name => name.endsWith('.key') || name.endsWith('hub.json'),
  )) {
    const text = readFileSync(file, 'utf8').replaceAll('\\n', '\n')
    for (const [index, [, line = '']] of [
      ...text.matchAll(/-----BEGIN [A-Z ]*PRIVATE KEY-----\r?\n[^\n]+\n([^\n]+)\n/g),
    ].entries()) {
      secrets.set(`${relative(folder.path, file)} ${index}`, line.trim())
    }
  }
}

async function launch(args: readonly string[]): Promise<void> {
  processes.push(await startRole([...args, '--log-level', 'debug']))
}

beforeAll(async () => {
  const port = await freePorts()
  const policy = join(folder.path, 'policy.yaml')
  writeFileSync(policy, everything)
  const audited = (name: string): readonly string[] => [
    '--audit-policy-file',
    policy,
    '--audit-log-path',
    join(folder.path, `${name}.audit.log`),
  ]
  const at = (name: string, portOfIt: number): readonly string[] => listenAt(homeOf(name), portOfIt)
  await launch(['hub', ...at('hub', port), '--advertise', `127.0.0.1:${port}`, ...audited('hub')])

  const token = await runRole(['token', 'create', '--home', homeOf('hub'), '--cluster', 'east'])
  const [, id = '', secret = ''] = /^isthmus:\/\/([^.]+)\.([^.]+)\./.exec(token) ?? []
  secrets.set('the join token', secret)
  await launch([
    'member',
    '--cluster-id',
    'east',
    ...at('east', port + 1),
    '--join',
    token,
    ...audited('east'),
  ])
  await launch([
    'dns',
    '--kubeconfig',
    join(homeOf('east'), 'dns.kubeconfig'),
    ...at('east-dns', port + 11),
    '--probe-port',
    String(port + 15),
  ])

  // A token that is good for another cluster, one that is good for none, and others that nobody gave.
  const unused = await runRole(['token', 'create', '--home', homeOf('hub'), '--cluster', 'west'])
  const [, , unusedSecret = ''] = /^isthmus:\/\/([^.]+)\.([^.]+)\./.exec(unused) ?? []
  secrets.set('a join token of another cluster', unusedSecret)
  const guessed = 'Z3Vlc3NlZC1ndWVzc2VkLWd1ZXNzZWQtZ3Vlc3NlZC1ndWVzcw'
  secrets.set('a guessed join token', guessed)
  const joining = (id: string, portOfIt: number, given: string): Promise<Ended> =>
    runToEnd(['member', '--cluster-id', id, ...at(id, portOfIt), '--log-level', 'debug', '--join', given])
  const refused = await Promise.all([
    joining('north', port + 2, unused),
    joining('south', port + 3, token.replace(secret, guessed)),
  ])
  expect(refused.map(({ code }) => code)).toEqual([1, 1])
  expect(refused[0].output).toContain('the join token is for the cluster "west"')
  for (const { output } of refused) expect(output).not.toContain('is in use')
  await present(port, `${id}.${guessed}`)
  await use(port)
  learnKeys()
  for (const one of processes) await one.stop()
  printed = [...processes.flatMap(({ output }) => output), ...refused.map(({ output }) => output)].join('\n')
}, 120_000)
afterAll(() => folder.dispose())

function aTokenPart(part: Readonly<Record<string, string>>): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

/** Credentials of all sorts, that are not good. */
async function present(port: number, guess: string): Promise<void> {
  const ca = readFileSync(join(homeOf('hub'), 'pki', 'ca.crt'), 'utf8')
  const client = apiClient('HTTP/1.1', { url: `https://127.0.0.1:${port}`, ca })
  const sent = {
    'a bearer token': 'bearer-token-0123456789-0123456789-0123456789',
    'a password': 'root:password-0123456789-0123456789-0123456789',
    'a cookie': 'session=cookie-0123456789-0123456789-0123456789',
    'an OIDC token': `${aTokenPart({ alg: 'RS256', kid: 'k' })}.${aTokenPart({ iss: 'https://issuer.test', sub: 'somebody-0123456789' })}.c2lnbmF0dXJlLTAxMjM0NTY3ODktMDEyMzQ1Njc4OQ`,
  }
  for (const [what, secret] of Object.entries(sent)) secrets.set(what, secret)
  for (const authorization of [
    `Bearer ${sent['a bearer token']}`,
    `Bearer ${sent['an OIDC token']}`,
    `Bearer ${guess}`,
    `Basic ${Buffer.from(sent['a password']).toString('base64')}`,
  ]) {
    const { status } = await client.send('/apis/hub.isthmus.dev/v1alpha1/memberclusters', {
      headers: { authorization, cookie: sent['a cookie'] },
    })
    expect([401, 403]).toContain(status)
  }
  await client.close()
}

/** What a ClusterSet is there for, so that there is something to log. */
async function use(port: number): Promise<void> {
  const hub = await contextClient(join(homeOf('hub'), 'kubeconfig'), 'hub')
  const east = await contextClient(join(homeOf('east'), 'kubeconfig'), 'east')
  const metadata = { namespace: 'shop', name: 'web' }
  await east.create(
    resource(NamespaceKind),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    never,
  )
  await east.create(
    resource(ServiceKind),
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80, protocol: 'TCP' }] } },
    never,
  )
  await east.create(
    resource(ServiceExportKind),
    { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport', metadata },
    never,
  )
  await eventually(async () => {
    const { status } = await east.get(resource(ServiceExportKind), metadata, never)
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }))
  })
  await hub.mergePatch(
    resource(MemberClusterKind),
    { name: 'east' },
    { spec: { accepted: true } },
    { signal: never },
  )
  await fetch(`http://127.0.0.1:${port + 15}/metrics`)
  hub.close()
  east.close()
}

describe('secrets', () => {
  it('are those that there are: keys of every certificate, tokens that were good and that were not', () => {
    const keys = [...secrets.keys()].filter(what => what.includes('/'))
    expect(keys.length).toBeGreaterThan(8)
    for (const file of [
      'hub/pki/ca.key 0',
      'hub/pki/serving.key 0',
      'hub/admin.key 0',
      'east/pki/agent.key 0',
      'east/hub/hub.json 0',
    ]) {
      expect(keys).toContain(file)
    }
    for (const secret of secrets.values()) expect(secret.length).toBeGreaterThan(30)
  })

  it('are found where they are', () => {
    const holding = filesIn(folder.path).filter(file => found(readFileSync(file)).length > 0)
    const paths = holding.map(file => relative(folder.path, file))
    for (const path of ['hub/pki/ca.key', 'hub/kubeconfig', 'east/hub/hub.json', 'east/dns.kubeconfig']) {
      expect(paths).toContain(path)
    }
  })

  it('are in no line of a log, at whatever level', () => {
    expect(printed).toContain('"level":"debug"')
    expect(printed).toContain('client refused')
    expect(found(Buffer.from(printed))).toEqual([])
  })

  it('are in no event of an audit log, which holds documents and answers', () => {
    for (const name of ['hub', 'east']) {
      const text = readFileSync(join(folder.path, `${name}.audit.log`))
      expect(text.includes('"level":"RequestResponse"')).toBe(true)
      expect(text.includes(name === 'hub' ? '"resource":"memberjoins"' : '"resource":"serviceexports"')).toBe(
        true,
      )
      expect(found(text)).toEqual([])
    }
  })

  it('are in no other file, stores among them', () => {
    const others = filesIn(folder.path).filter(file => !forKeys.test(relative(folder.path, file)))
    expect(others.some(file => file.includes('store'))).toBe(true)
    const holding = others.map(file => [relative(folder.path, file), found(readFileSync(file))] as const)
    expect(holding.filter(([, what]) => what.length > 0)).toEqual([])
  })

  it('are in files that only their owner may read', () => {
    const readable = filesIn(folder.path)
      .filter(file => found(readFileSync(file)).length > 0)
      .filter(file => (statSync(file).mode & 0o077) !== 0)
    expect(readable).toEqual([])
  })
})
