// What everybody who is not a person may do, verb by verb and kind by kind, with real requests over TLS. A kind that is
// new is missing in these tables until somebody has said what it is for.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyKind } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds/index.ts'
import type { Identity } from '../../src/identity/certificate.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { publishMember } from '../../src/roles/admin-files.ts'
import type { Running } from '../../src/roles/context.ts'
import { type RunningMember, startMember } from '../../src/roles/member.ts'
import type { RunningServer } from '../../src/roles/server.ts'
import { type JoinableHub, listening, startJoinableHub } from '../support/aggregation.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { allowed, type Place, titleOf } from '../support/rights.ts'

const folder = temporaryFolder()
const stop = new AbortController()
const context = { clock: systemClock, log: silentLogger, metrics: noMetrics, signal: stop.signal }
const running: Running[] = []
const clients: ApiClient[] = []
let hub: JoinableHub
let east: RunningMember
let joiner: string

beforeAll(async () => {
  const port = await freePorts()
  hub = await startJoinableHub(join(folder.path, 'hub'), { port })
  running.push(hub)
  east = await joined('east', port + 1)
  await joined('west', port + 2)
  joiner = await hub.token('north')
}, 60_000)
afterAll(async () => {
  await Promise.all(clients.map(client => client.close()))
  for (const one of running.toReversed()) await one.close()
  stop.abort()
  folder.dispose()
})

async function joined(clusterId: string, port: number): Promise<RunningMember> {
  const home = join(folder.path, clusterId)
  const options = { ...listening, controllers: true, clusterId, home, port }
  const member = await startMember({ ...options, join: await hub.token(clusterId) }, context)
  running.push(member)
  await publishMember(home, member)
  return member
}

const clientOf = (
  { localUrl, identity }: RunningServer,
  who?: Pick<Identity, 'certificate' | 'key'>,
): ApiClient => {
  const client = apiClient('HTTP/2', {
    url: localUrl,
    ca: identity.caBundle,
    ...(who === undefined ? {} : { identity: who }),
  })
  clients.push(client)
  return client
}

/** With the certificate that it has from the hub. */
const memberAtHub = (): ApiClient =>
  clientOf(hub.running, JSON.parse(readFileSync(join(folder.path, 'east', 'hub', 'hub.json'), 'utf8')))
const componentOf = (name: string): ApiClient => {
  const file = (ending: string): string =>
    readFileSync(join(folder.path, 'east', 'pki', `${name}.${ending}`), 'utf8')
  return clientOf(east.running, { certificate: file('crt'), key: file('key') })
}
/** A client with a token. */
const joinerAtHub = (): ApiClient => {
  const [, credentials = ''] = /^isthmus:\/\/([^.]+\.[^.]+)\./.exec(joiner) ?? []
  const client = clientOf(hub.running)
  const withToken = (call: Parameters<ApiClient['send']>[1] = {}) => ({
    ...call,
    headers: { ...call.headers, authorization: `Bearer ${credentials}` },
  })
  return {
    ...client,
    send: (path, call) => client.send(path, withToken(call)),
    open: (path, call) => client.open(path, withToken(call)),
  }
}

const onHub = kinds.filter(kind => kind.servers.some(server => server !== 'member'))
const onMember = kinds.filter(kind => kind.servers.some(server => server !== 'hub'))

/** Everywhere that matters: everything at once, and by turns in these namespaces. */
function placesOf({ scope }: AnyKind, namespaces: readonly string[]): readonly Place[] {
  const names = ['east', 'west', 'member-east', 'member-west', 'system:masters']
  if (scope === 'Cluster') return [{}, ...names.map(name => ({ name }))]
  return [{}, ...namespaces.flatMap(namespace => [{ namespace }, { namespace, name: 'some' }])]
}

type Table = Readonly<Record<string, readonly string[]>>

async function table(
  client: ApiClient,
  of: readonly AnyKind[],
  namespaces: readonly string[],
): Promise<Table> {
  const rows: Record<string, readonly string[]> = {}
  for (const kind of of) rows[titleOf(kind)] = await allowed(client, kind, placesOf(kind, namespaces))
  return rows
}

/** A row for each kind, and no right in any. */
const nothing = (of: readonly AnyKind[]): Table => Object.fromEntries(of.map(kind => [titleOf(kind), []]))
/** What somebody may do who asks what it may do. */
const asks: Table = {
  'selfsubjectaccessreviews.authorization.k8s.io': ['create'],
  'selfsubjectreviews.authentication.k8s.io': ['create'],
  'selfsubjectrulesreviews.authorization.k8s.io': ['create'],
}

/** One's own, another's, and nobody's. */
const atHub = (client: ApiClient): Promise<Table> =>
  table(client, onHub, ['member-east', 'member-west', 'default', 'kube-system'])
/** Rights of the parts of a member are the same in every namespace. */
const atMember = (client: ApiClient): Promise<Table> => table(client, onMember, ['default'])

describe('on the hub', () => {
  it('a member may do in its own namespace what it is there for, and nothing anywhere else', async () => {
    expect(await atHub(memberAtHub())).toMatchInlineSnapshot(`
      {
        "clusterrolebindings.rbac.authorization.k8s.io": [],
        "clusterroles.rbac.authorization.k8s.io": [],
        "clustersetservices.hub.isthmus.dev": [],
        "configmaps": [],
        "endpointslices.discovery.k8s.io": [],
        "events": [
          "create in member-east",
        ],
        "exportedendpointslices.hub.isthmus.dev": [
          "list,watch,create,deletecollection in member-east",
          "get,update,patch,delete some in member-east",
        ],
        "exportedservices.hub.isthmus.dev": [
          "list,watch,create,deletecollection in member-east",
          "get,update,patch,delete some in member-east",
          "get /status some in member-east",
        ],
        "importables.hub.isthmus.dev": [
          "list,watch in member-east",
          "get some in member-east",
        ],
        "importedservices.hub.isthmus.dev": [
          "list,watch,create,deletecollection in member-east",
          "get,update,patch,delete some in member-east",
        ],
        "jointokens.hub.isthmus.dev": [],
        "leases.coordination.k8s.io": [
          "create in member-east",
          "get,update some in member-east",
        ],
        "memberclusters.hub.isthmus.dev": [
          "get,delete east",
          "get /status east",
        ],
        "memberjoins.hub.isthmus.dev": [
          "create",
        ],
        "namespaces": [],
        "rolebindings.rbac.authorization.k8s.io": [],
        "roles.rbac.authorization.k8s.io": [],
        "selfsubjectaccessreviews.authorization.k8s.io": [
          "create",
        ],
        "selfsubjectreviews.authentication.k8s.io": [
          "create",
        ],
        "selfsubjectrulesreviews.authorization.k8s.io": [
          "create",
        ],
        "services": [],
        "subjectaccessreviews.authorization.k8s.io": [],
      }
    `)
  }, 60_000)

  it('who has a join token may join', async () => {
    expect(await atHub(joinerAtHub())).toEqual({
      ...nothing(onHub),
      ...asks,
      'memberjoins.hub.isthmus.dev': ['create'],
    })
  }, 60_000)

  it('a stranger may do nothing', async () => {
    expect(await atHub(clientOf(hub.running))).toEqual(nothing(onHub))
  }, 60_000)
})

describe('on a member', () => {
  it('its agent may do what it is there for', async () => {
    expect(await atMember(componentOf('agent'))).toMatchInlineSnapshot(`
      {
        "clusterrolebindings.rbac.authorization.k8s.io": [],
        "clusterroles.rbac.authorization.k8s.io": [],
        "configmaps": [],
        "endpointslices.discovery.k8s.io": [
          "list,watch,create,deletecollection",
          "list,watch,create,deletecollection in default",
          "get,update,patch,delete some in default",
        ],
        "events": [
          "create",
          "create in default",
          "get,update some in default",
        ],
        "leases.coordination.k8s.io": [],
        "namespaces": [
          "list,watch",
          "get east",
          "get west",
          "get member-east",
          "get member-west",
          "get system:masters",
        ],
        "rolebindings.rbac.authorization.k8s.io": [],
        "roles.rbac.authorization.k8s.io": [],
        "selfsubjectaccessreviews.authorization.k8s.io": [
          "create",
        ],
        "selfsubjectreviews.authentication.k8s.io": [
          "create",
        ],
        "selfsubjectrulesreviews.authorization.k8s.io": [
          "create",
        ],
        "serviceexports.multicluster.x-k8s.io": [
          "list,watch",
          "list,watch in default",
          "get some in default",
          "get,update,patch /status some in default",
        ],
        "serviceimports.multicluster.x-k8s.io": [
          "list,watch,create,deletecollection",
          "list,watch,create,deletecollection in default",
          "get,update,patch,delete some in default",
          "get,update,patch /status some in default",
        ],
        "services": [
          "list,watch",
          "list,watch in default",
          "get some in default",
        ],
        "subjectaccessreviews.authorization.k8s.io": [],
      }
    `)
  }, 60_000)

  it('its DNS may read what names are made of', async () => {
    expect(await atMember(componentOf('dns'))).toMatchInlineSnapshot(`
      {
        "clusterrolebindings.rbac.authorization.k8s.io": [],
        "clusterroles.rbac.authorization.k8s.io": [],
        "configmaps": [],
        "endpointslices.discovery.k8s.io": [
          "list,watch",
          "list,watch in default",
          "get some in default",
        ],
        "events": [
          "create",
          "create in default",
          "get,update some in default",
        ],
        "leases.coordination.k8s.io": [],
        "namespaces": [],
        "rolebindings.rbac.authorization.k8s.io": [],
        "roles.rbac.authorization.k8s.io": [],
        "selfsubjectaccessreviews.authorization.k8s.io": [
          "create",
        ],
        "selfsubjectreviews.authentication.k8s.io": [
          "create",
        ],
        "selfsubjectrulesreviews.authorization.k8s.io": [
          "create",
        ],
        "serviceexports.multicluster.x-k8s.io": [],
        "serviceimports.multicluster.x-k8s.io": [
          "list,watch",
          "list,watch in default",
          "get some in default",
        ],
        "services": [],
        "subjectaccessreviews.authorization.k8s.io": [],
      }
    `)
  }, 60_000)

  it('a stranger may do nothing', async () => {
    expect(await atMember(clientOf(east.running))).toEqual(nothing(onMember))
  }, 60_000)
})

describe('paths that are no resources', () => {
  it.each([
    ['a member at its hub', memberAtHub],
    ['who has a join token', joinerAtHub],
    ['a stranger at the hub', () => clientOf(hub.running)],
    ['the agent of a member', () => componentOf('agent')],
    ['the DNS of a member', () => componentOf('dns')],
    ['a stranger at a member', () => clientOf(east.running)],
  ])('%s reads no metrics, no backup and no reason of a failure', async (_, makeClient) => {
    const client = makeClient()
    for (const path of ['/metrics', '/store/backup', '/readyz/store', '/livez/ping', '/debug', '/logs']) {
      expect([path, (await client.send(path)).status]).toEqual([path, 403])
    }
    expect((await client.send('/readyz')).status).toBe(200)
  })

  it.each([
    ['a member', memberAtHub],
    ['who has a join token', joinerAtHub],
    ['a stranger', () => clientOf(hub.running)],
  ])('%s acts as nobody else', async (_, makeClient) => {
    const client = makeClient()
    for (const [header, value] of [
      ['impersonate-user', 'admin'],
      ['impersonate-user', 'hub.isthmus.dev:member:west'],
    ] as const) {
      const headers = { [header]: value, 'impersonate-group': 'system:masters' }
      expect((await client.send('/version', { headers })).status).toBe(403)
    }
  })
})
