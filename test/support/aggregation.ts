import { join } from 'node:path'
import { ConfigMapKind } from '../../src/api/kinds/config-map.ts'
import { NamespaceKind } from '../../src/api/kinds/namespace.ts'
import { type Cluster, resource } from '../../src/cluster/cluster.ts'
import { type Identity, issueClient, makeAuthority } from '../../src/identity/certificate.ts'
import { never } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { type Logger, memoryLogger, silentLogger } from '../../src/kernel/log.ts'
import { publishHub } from '../../src/roles/admin-files.ts'
import { type HubOptions, type RunningHub, startHub } from '../../src/roles/hub.ts'
import { type MemberOptions, type RunningMember, startMember } from '../../src/roles/member.ts'
import { createToken } from '../../src/roles/token.ts'
import { prometheus } from '../../src/telemetry/prometheus.ts'
import { type ApiAnswer, type ApiClient, apiClient } from './api-client.ts'
import { freePorts, temporaryFolder } from './fleet.ts'

export const lifetime = { clock: systemClock, lifetimeMs: 3_600_000 }
export const configMaps = resource(ConfigMapKind)
export const namespaces = resource(NamespaceKind)
const service = { namespace: 'isthmus-system', name: 'isthmus-member' }

export type Aggregation = {
  /** What is underneath: a hub in the place of a kube-apiserver, which it can be for all that we ask but tokens. */
  readonly cluster: Cluster
  readonly server: RunningMember
  readonly log: ReturnType<typeof memoryLogger>
  /** The authority of front proxies and that of users, as the ConfigMap names them. */
  readonly proxies: Identity
  readonly users: Identity
  /** A client with this certificate, or with none. */
  client(identity?: Identity): ApiClient
  /** As somebody whom the front proxy has authenticated. */
  asUser(user: string, path: string, call?: Parameters<ApiClient['send']>[1]): Promise<ApiAnswer>
  stopUnderneath(): Promise<void>
  close(): Promise<void>
}

/** What options of hubs and members have in common here. */
export const listening = {
  host: '127.0.0.1',
  advertise: undefined,
  serviceCidrs: ['10.96.0.0/16'],
  clientCa: undefined,
}
const memberOptions = { ...listening, clusterId: 'test', port: 0, join: undefined, controllers: false }
const hubOptions = { ...listening, clusterSetCidrs: ['10.112.0.0/16'], quarantineMs: 60_000 }

export type JoinableHub = RunningHub & { token(clusterId?: string): Promise<string> }

/** A hub that members can join, on a port that was free unless told. */
export async function startJoinableHub(home: string, more: Partial<HubOptions> = {}): Promise<JoinableHub> {
  const port = more.port ?? (await freePorts())
  const options = { ...hubOptions, controllers: true, ...more, home, port }
  const metrics = prometheus({ processMetrics: false })
  const hub = await startHub(options, { clock: systemClock, log: silentLogger, metrics, signal: never })
  const { addresses: servers, identity } = hub.running
  const wanted = { lifetimeMs: 600_000, servers, ca: identity.caBundle, clock: systemClock }
  return { ...hub, token: clusterId => createToken(hub.admin, { ...wanted, clusterId }, never) }
}

/** A server, with no controllers unless told, behind another, on free ports of the loopback. */
export async function startAggregation(more: Partial<MemberOptions> = {}): Promise<Aggregation> {
  const folder = temporaryFolder()
  const log = memoryLogger()
  // Each server counts for itself.
  const contextOf = (logger: Logger) => ({
    clock: systemClock,
    log: logger,
    metrics: prometheus({ processMetrics: false }),
    signal: never,
  })
  const home = join(folder.path, 'underneath')
  const underneath = await startHub(
    { ...hubOptions, home, port: 0, controllers: false },
    contextOf(silentLogger),
  )
  await publishHub(home, underneath)
  const cluster = underneath.admin
  const [proxies, users] = [await makeAuthority('proxies', lifetime), await makeAuthority('users', lifetime)]
  await cluster.create(configMaps, authenticationMap(proxies, users), never)
  const aggregation = {
    kubeconfig: join(home, 'kubeconfig'),
    authenticationKubeconfig: undefined,
    authorizationKubeconfig: undefined,
    service,
    certificate: undefined,
  }
  const options = { ...memberOptions, home: join(folder.path, 'behind'), aggregation, ...more }
  const server = await startMember(options, contextOf(log))
  const clients: ApiClient[] = []
  const client = (identity?: Identity): ApiClient => {
    const ca = server.running.serving.trusted()
    const url = server.running.localUrl
    const made = apiClient('HTTP/2', { url, ca, ...(identity === undefined ? {} : { identity }) })
    clients.push(made)
    return made
  }
  const proxy = client(await issueClient(proxies, { user: 'front-proxy-client', groups: [] }, lifetime))
  return {
    cluster,
    server,
    log,
    proxies,
    users,
    client,
    asUser: (user, path, call = {}) =>
      proxy.send(path, { ...call, headers: { ...call.headers, 'x-remote-user': user } }),
    stopUnderneath: () => underneath.close(),
    close: async () => {
      await Promise.all(clients.map(one => one.close()))
      await server.close()
      await underneath.close()
      folder.dispose()
    },
  }
}

export function authenticationMap(proxies: Identity, users: Identity) {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-system', name: 'extension-apiserver-authentication' },
    data: {
      'client-ca-file': users.certificate,
      'requestheader-client-ca-file': proxies.certificate,
      'requestheader-allowed-names': '["front-proxy-client"]',
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    },
  }
}
