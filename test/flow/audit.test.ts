// What an audit log holds of requests that a real kubectl makes to a real server.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { Kubectl, kubectlBinaries } from '../support/kubectl.ts'
import { type RoleProcess, startRole } from '../support/role-process.ts'

const [binary] = kubectlBinaries()

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
rules:
- level: None
  nonResourceURLs: ["/readyz*", "/livez*", "/api*", "/openapi*", "/version"]
- level: RequestResponse
  resources: [{ group: multicluster.x-k8s.io }]
  omitStages: [RequestReceived]
- level: Request
  verbs: [create]
  namespaces: [""]
- level: None
  users: ["system:isthmus:operator"]
- level: Metadata
`

type Event = {
  readonly stage: string
  readonly verb: string
  readonly requestURI: string
  readonly user?: { readonly username?: string }
  readonly objectRef?: Readonly<Record<string, string>>
  readonly responseStatus?: { readonly code: number; readonly message?: string }
  readonly [field: string]: unknown
}

describe.skipIf(binary === undefined)('the audit log', () => {
  const folder = temporaryFolder()
  const file = join(folder.path, 'audit.log')
  const ending: (() => Promise<unknown>)[] = []
  let kubectl: Kubectl

  async function start(port: number, ...more: readonly string[]): Promise<RoleProcess> {
    const home = join(folder.path, 'home')
    writeFileSync(join(folder.path, 'policy.yaml'), policy)
    const flags = ['--audit-policy-file', join(folder.path, 'policy.yaml'), '--audit-log-path', file, ...more]
    return startRole(['apiserver', '--home', home, '--port', String(port), '--cluster-id', 'east', ...flags])
  }

  const events = (): readonly Event[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line))
  const those = (verb: string, resource: string): readonly Event[] =>
    events().filter(
      ({ user, ...event }) =>
        user?.username === 'admin' && event.verb === verb && event.objectRef?.resource === resource,
    )

  beforeAll(async () => {
    if (binary === undefined) return
    const server = await start(await freePorts())
    ending.push(() => server.stop())
    const kubeconfig = join(folder.path, 'home', 'kubeconfig')
    kubectl = new Kubectl({ binary, kubeconfig, context: 'east', cacheDir: join(folder.path, 'cache') })
  })
  afterAll(async () => {
    for (const end of ending.toReversed()) await end()
    folder.dispose()
  })

  it('tells who did what to what, and what came of it', async () => {
    await kubectl.run(['create', 'namespace', 'shop'])
    await eventually(() => expect(those('create', 'namespaces')).toHaveLength(2))
    const [received, complete] = those('create', 'namespaces')
    expect(received).toMatchObject({ stage: 'RequestReceived', level: 'Request' })
    expect(received).not.toHaveProperty('requestObject')
    expect(complete).toMatchObject({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Request',
      auditID: received?.auditID,
      stage: 'ResponseComplete',
      requestURI: expect.stringMatching(/^\/api\/v1\/namespaces\?fieldManager=kubectl-create/),
      verb: 'create',
      user: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      sourceIPs: ['127.0.0.1'],
      userAgent: expect.stringMatching(/^kubectl/),
      objectRef: { resource: 'namespaces', name: 'shop', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
      requestObject: { kind: 'Namespace', metadata: { name: 'shop' } },
      annotations: { 'authorization.k8s.io/decision': 'allow' },
    })
    expect(complete).not.toHaveProperty('responseObject')
    const times = [complete?.requestReceivedTimestamp, complete?.stageTimestamp]
    for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  })

  it('holds what was sent and answered where the policy says so, without managed fields', async () => {
    const web = {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceExport',
      metadata: { name: 'web', namespace: 'shop' },
    }
    await kubectl.run(['apply', '--server-side', '-f', '-'], JSON.stringify(web))
    await eventually(() => expect(those('patch', 'serviceexports')).toHaveLength(1))
    const [applied] = those('patch', 'serviceexports')
    expect(applied).toMatchObject({
      stage: 'ResponseComplete',
      objectRef: { resource: 'serviceexports', namespace: 'shop', name: 'web' },
      requestObject: web,
      responseObject: { ...web, metadata: { uid: expect.any(String), resourceVersion: expect.any(String) } },
    })
    expect(JSON.stringify(applied)).not.toContain('managedFields')
  })

  it('tells of refusals and of whom somebody acts as', async () => {
    const as = ['--as=ada', '--as-group=dev']
    expect((await kubectl.try([...as, 'delete', 'serviceexport', 'web', '-n', 'shop'])).code).toBe(1)
    await eventually(() => expect(those('delete', 'serviceexports')).toHaveLength(1))
    expect(those('delete', 'serviceexports')[0]).toMatchObject({
      user: { username: 'admin' },
      impersonatedUser: { username: 'ada', groups: ['dev', 'system:authenticated'] },
      responseStatus: { status: 'Failure', reason: 'Forbidden', code: 403 },
      annotations: {
        'authorization.k8s.io/decision': 'forbid',
        'authorization.k8s.io/reason': expect.stringContaining('User "ada" cannot delete'),
      },
    })
  })

  it('tells of strangers without what they presented', async () => {
    await kubectl.run(['config', 'set-credentials', 'stranger', '--token=s3cret'])
    await kubectl.try(['--user=stranger', 'get', 'serviceexports', '-n', 'shop'])
    await eventually(() => expect(events().some(event => event.responseStatus?.code === 401)).toBe(true))
    const refused = events().find(event => event.responseStatus?.code === 401)
    expect(refused).toMatchObject({
      stage: 'ResponseStarted',
      user: {},
      responseStatus: { message: 'Authentication failed, attempted: bearer', code: 401 },
    })
    expect(readFileSync(file, 'utf8')).not.toContain('s3cret')
  })

  it('tells when a watch begins and when it ends', async () => {
    await kubectl.run(['get', 'namespaces', '--watch', '--request-timeout=1s'])
    const ofWatch = (): readonly string[] => those('watch', 'namespaces').map(event => event.stage)
    await eventually(() =>
      expect(ofWatch()).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']),
    )
  })

  it('is rotated when it has grown, and as many old ones are kept as were asked for', async () => {
    for (const end of ending.splice(0)) await end()
    const server = await start(await freePorts(), '--audit-log-maxsize', '1', '--audit-log-maxbackup', '2')
    ending.push(() => server.stop())
    const big = {
      apiVersion: 'v1',
      kind: 'List',
      items: Array.from({ length: 12 }, (_, i) => ({
        apiVersion: 'multicluster.x-k8s.io/v1beta1',
        kind: 'ServiceExport',
        metadata: { name: `big-${i}`, namespace: 'shop', annotations: { a: 'x'.repeat(200_000) } },
      })),
    }
    await kubectl.run(['create', '-f', '-'], JSON.stringify(big))
    await eventually(() => {
      const files = readdirSync(folder.path).filter(name => name.startsWith('audit.log'))
      expect(files.toSorted()).toEqual(['audit.log', 'audit.log.1', 'audit.log.2'])
    })
  })
})
