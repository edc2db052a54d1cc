/** What every API server of ours is made of: identity, store, users and rights, and the server itself. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { clusterIpPlugin } from '../../apiservice/admission/cluster-ip.ts'
import { makeNamespaceLifecycle, storedNamespaces } from '../../apiservice/admission/namespace-lifecycle.ts'
import { bearerAuthenticator, type TokenLookup } from '../../apiservice/authn/bearer-token.ts'
import { clientCertAuthenticator } from '../../apiservice/authn/client-cert.ts'
import { authorizersInTurn } from '../../apiservice/authz/chain-of-authorizers.ts'
import { escalationPlugin } from '../../apiservice/authz/escalation.ts'
import { healthAuthorizer } from '../../apiservice/authz/health-paths.ts'
import { mastersAuthorizer } from '../../apiservice/authz/masters.ts'
import { RbacAuthorizer } from '../../apiservice/authz/rbac.ts'
import { accessReviews } from '../../apiservice/authz/reviews.ts'
import type { Authorizer, Review, View } from '../../apiservice/contract.ts'
import { type ApiServer, startApiServer } from '../../apiservice/server.ts'
import { followStore } from '../../apiservice/store/follow.ts'
import { openLevelStore } from '../../apiservice/store/level-store.ts'
import type { Follow, Store } from '../../apiservice/store-contract.ts'
import type { AnyKind, Server } from '../api/kind.ts'
import { kinds } from '../api/kinds/index.ts'
import { ClusterClient } from '../cluster/client.ts'
import type { Credentials } from '../cluster/transport.ts'
import { type ClientSubject, type Identity, readCertificate } from '../identity/certificate.ts'
import { renewInTime } from '../identity/renewal.ts'
import { openServerIdentity, type ServerIdentity } from '../identity/server-identity.ts'
import { background } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import { startStandaloneLoops } from '../standalone/start.ts'
import { policy } from './component-rights.ts'
import type { Context } from './context.ts'
import { opening } from './opening.ts'

export type ServerOptions = {
  /** `hub`, or the cluster id. */
  readonly name: string
  readonly serves: 'hub' | 'member'
  readonly home: string
  readonly host: string
  readonly port: number
  /** `https://host:port` of each address at which others find it; by the name of this machine when absent. */
  readonly advertise: readonly string[] | undefined
  /** Blocks that Services get addresses from, at most one of each family. */
  readonly serviceCidrs: readonly string[]
  /** PEM of more authorities whose client certificates are taken. */
  readonly clientCa: string | undefined
}

/** What is there before the server listens. */
export type Foundation = {
  readonly options: ServerOptions
  readonly identity: ServerIdentity
  readonly store: Store
  readonly follow: Follow
}

/** What only one kind of server has. */
export type Extension = {
  readonly tokens: readonly TokenLookup[]
  /** Asked before RBAC. */
  readonly authorizers: readonly Authorizer[]
  readonly reviews: ReadonlyMap<string, Review>
  readonly views: ReadonlyMap<string, View>
}

export type RunningServer = {
  readonly server: ApiServer
  /** Where this machine finds it. */
  readonly localUrl: string
  /** Where others find it, `https://host:port` each. */
  readonly addresses: readonly string[]
  readonly identity: ServerIdentity
  /** A client of this server with the rights of an administrator, for what the server itself has to do. */
  readonly operator: ClusterClient
  /** A client of this server with a certificate of its own. */
  client(name: string, subject: ClientSubject): Promise<ClusterClient>
  /** Stops answering and ends its clients; the store is left to who opened it. */
  close(): Promise<void>
}

const credentialCheckMs = 12 * 3_600_000
/** Of kube-apiserver. */
const nodePorts = { first: 30_000, last: 32_767 }
const operator = { user: 'system:isthmus:operator', groups: ['system:masters'] }

export async function openFoundation(options: ServerOptions, context: Context): Promise<Foundation> {
  const { clock, log, metrics } = context
  const local = reachable(options.host)
  const identity = await openServerIdentity({
    folder: join(options.home, 'pki'),
    name: `isthmus ${options.name}`,
    names: [
      'localhost',
      '127.0.0.1',
      '::1',
      ...addressesOf(options).map(address => new URL(address).hostname.replace(/^\[|\]$/g, '')),
      local,
    ],
    clock,
  })
  const store = await openLevelStore({ directory: join(options.home, 'store'), clock, log, metrics })
  return { options, identity, store, follow: followStore(store, { clock, log }) }
}

/** Listens when it resolves; not ready yet. When it rejects, what it opened is closed again. */
export async function startServer(
  foundation: Foundation,
  extension: Extension,
  context: Context,
): Promise<RunningServer> {
  return opening(context, async opened => {
    const stop = new AbortController()
    const inner = { ...context, signal: stop.signal }
    const clients: ClusterClient[] = []
    opened.add(() => {
      for (const client of clients) client.close()
    })
    const server = await listen(foundation, extension, inner)
    opened.add(() => server.close())
    opened.add(() => stop.abort())
    renewServing(foundation, server, inner)
    const started = await running(foundation, server, inner, clients)
    const { clock, log } = context
    const loops = { cluster: started.operator, kinds: kindsOf(foundation.options.serves), policy, clock, log }
    await startStandaloneLoops(loops, stop.signal)
    return { ...started, close: () => opened.close() }
  })
}

async function listen(foundation: Foundation, extension: Extension, context: Context): Promise<ApiServer> {
  const { options, identity, store, follow } = foundation
  const { clock, log, metrics, signal } = context
  const rbac = new RbacAuthorizer()
  const clusterIps = clusterIpPlugin({ cidrs: options.serviceCidrs, nodePorts, clock, log })
  await Promise.all([rbac.start(follow, signal), clusterIps.start(follow, signal)])
  const authorizers = [healthAuthorizer, mastersAuthorizer, ...extension.authorizers, rbac]
  const authorizer = authorizersInTurn(authorizers)
  const caBundle = clientAuthorities(foundation)
  return startApiServer({
    name: options.name,
    kinds: kindsOf(options.serves),
    store,
    host: options.host,
    port: options.port,
    tls: { cert: identity.serving.certificate, key: identity.serving.key, clientCa: [caBundle] },
    authenticators: [
      clientCertAuthenticator({ caBundle: () => caBundle, clock, log }),
      bearerAuthenticator(extension.tokens),
    ],
    anonymous: true,
    authorizers,
    admission: [
      makeNamespaceLifecycle(storedNamespaces(store)),
      escalationPlugin({ authorizer, rbac }),
      clusterIps,
    ],
    reviews: new Map([...accessReviews({ authorizer, rbac, clock }), ...extension.reviews]),
    views: extension.views,
    healthChecks: [],
    clock,
    log,
    metrics,
  })
}

/** Nothing underneath keeps the core kinds, so this server does. */
function kindsOf(serves: Server): readonly AnyKind[] {
  return kinds.filter(kind => kind.servers.some(server => server === serves || server === 'standalone'))
}

/** Also after a renewal: a client that does not find its authority among those that are named shows no certificate. */
function clientAuthorities({ identity, options }: Foundation): string {
  return identity.caBundle + (options.clientCa ?? '')
}

function renewServing(foundation: Foundation, server: ApiServer, context: Context): void {
  const { options, identity } = foundation
  const { clock, log, signal } = context
  const renewal = {
    name: `${options.name} serving`,
    current: () => readCertificate(identity.serving.certificate),
    renew: async () => {
      await identity.renewServing()
      const { certificate, key } = identity.serving
      server.setSecureContext({ cert: certificate, key, clientCa: [clientAuthorities(foundation)] })
    },
    clock,
    log,
  }
  background('renew serving certificate', log, signal, () => renewInTime(renewal, signal))
}

async function running(
  foundation: Foundation,
  server: ApiServer,
  context: Context,
  clients: ClusterClient[],
): Promise<Omit<RunningServer, 'close'>> {
  const { identity, options } = foundation
  const localUrl = originOf(reachable(options.host), server.port)
  const client = async (name: string, subject: ClientSubject): Promise<ClusterClient> => {
    const { clock, metrics } = context
    const credentials = ownCredentials(() => identity.client(name, subject), identity, clock)
    await credentials()
    const made = new ClusterClient({ name: options.name, servers: [localUrl], credentials, clock, metrics })
    clients.push(made)
    return made
  }
  return {
    server,
    localUrl,
    addresses: addressesOf(options),
    identity,
    operator: await client('operator', operator),
    client,
  }
}

/** Looked at twice a day, whether they have to be renewed. */
function ownCredentials(
  open: () => Promise<Identity>,
  identity: ServerIdentity,
  clock: Clock,
): () => Promise<Credentials> {
  let opened: { readonly atMs: number; readonly credentials: Credentials } | undefined
  return async () => {
    if (opened !== undefined && clock.now() - opened.atMs < credentialCheckMs) return opened.credentials
    const { certificate, key } = await open()
    opened = { atMs: clock.now(), credentials: { ca: identity.caBundle, cert: certificate, key } }
    return opened.credentials
  }
}

function addressesOf({ advertise, host, port }: ServerOptions): readonly string[] {
  return advertise ?? [originOf(isEverywhere(host) ? hostname() : host, port)]
}

function isEverywhere(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** The address at which this machine finds a server that listens on `host`. */
function reachable(host: string): string {
  if (!isEverywhere(host)) return host
  return host === '::' ? '::1' : '127.0.0.1'
}

function originOf(host: string, port: number): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}
