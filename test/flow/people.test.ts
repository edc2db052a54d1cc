// People log in to a hub by an OpenID provider, and may what RBAC gives them and their groups.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/kernel/clock.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { Kubectl, kubectlBinaries } from '../support/kubectl.ts'
import { type OpenIdProvider, openIdProvider } from '../support/openid-provider.ts'
import { runToEnd, startRole } from '../support/role-process.ts'

const [binary] = kubectlBinaries()

describe.skipIf(binary === undefined)('people at a hub', () => {
  const folder = temporaryFolder()
  const home = join(folder.path, 'hub')
  let provider: OpenIdProvider
  const ending: (() => Promise<unknown>)[] = []
  let kubectl: Kubectl

  beforeAll(async () => {
    if (binary === undefined) return
    provider = await openIdProvider()
    ending.push(() => provider.close())
    const ca = join(folder.path, 'ca.crt')
    writeFileSync(ca, provider.server.authority.certificate)
    const oidc = {
      'issuer-url': provider.issuer,
      'client-id': 'isthmus',
      'ca-file': ca,
      'username-claim': 'email',
      'groups-claim': 'groups',
      'groups-prefix': 'oidc:',
      'required-claim': 'hd=example.com',
    }
    const flags = Object.entries(oidc).flatMap(([name, value]) => [`--oidc-${name}`, value])
    const port = await freePorts()
    const hub = await startRole(['hub', '--home', home, '--port', String(port), ...flags])
    ending.push(() => hub.stop())
    kubectl = new Kubectl({
      binary,
      kubeconfig: join(home, 'kubeconfig'),
      context: 'hub',
      cacheDir: join(folder.path, 'cache'),
    })
    const role = ['clusterrole', 'observer', '--verb=get,list,watch', '--resource=namespaces']
    await kubectl.run(['create', ...role])
    await kubectl.run(['create', 'clusterrolebinding', 'ops', '--clusterrole=observer', '--group=oidc:ops'])
  })
  afterAll(async () => {
    for (const end of ending.toReversed()) await end()
    folder.dispose()
  })

  /** kubectl with a token and without the administrator's certificate. */
  async function as(claims: Readonly<Record<string, unknown>>, args: readonly string[]) {
    const exp = Math.floor(systemClock.now() / 1000) + 600
    const base = { iss: provider.issuer, aud: 'isthmus', exp, hd: 'example.com' }
    const token = await provider.token({ ...base, ...claims })
    await kubectl.run(['config', 'set-credentials', 'person', `--token=${token}`])
    return kubectl.try(['--user=person', ...args])
  }

  it('are who their token says, with its groups', async () => {
    const claims = { email: 'ada@example.com', email_verified: true, groups: ['ops', 'dev'] }
    const { stdout } = await as(claims, ['auth', 'whoami', '-o', 'json'])
    expect(JSON.parse(stdout).status.userInfo).toEqual({
      username: 'ada@example.com',
      groups: ['oidc:ops', 'oidc:dev', 'system:authenticated'],
    })
  })

  it('may what their groups may, and no more', async () => {
    const claims = { email: 'ada@example.com', groups: ['ops'] }
    expect((await as(claims, ['get', 'namespaces'])).stdout).toContain('kube-system')
    const refused = await as(claims, ['create', 'namespace', 'mine'])
    expect(refused.stderr).toContain('User "ada@example.com" cannot create resource "namespaces"')
    const others = await as({ ...claims, groups: ['dev'] }, ['get', 'namespaces'])
    expect(others.stderr).toContain('User "ada@example.com" cannot list resource "namespaces"')
  })

  it.each([
    ['for another client', { aud: 'other' }],
    ['without a claim that is required', { hd: 'elsewhere.com' }],
    ['that has expired', { exp: 1 }],
  ])('are refused with a token %s', async (_, claims) => {
    const ran = await as({ email: 'ada@example.com', groups: ['ops'], ...claims }, ['get', 'namespaces'])
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('Unauthorized')])
  })

  it('cannot be set half', async () => {
    const { code, output } = await runToEnd(['hub', '--home', home, '--oidc-client-id', 'isthmus'])
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('--oidc-issuer-url and --oidc-client-id need each other: give both or neither'),
    ])
    const plain = await runToEnd(['hub', '--home', home, '--oidc-issuer-url', 'http://example.com'])
    expect(plain.output).toContain('must be a URL that begins with https://')
  })
})
