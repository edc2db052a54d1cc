/** What every API server of ours is made of: identity, store, users and rights, and the server itself. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { AuditStages } from '../../apiservice/audit/stage.ts'
import type { InFlightLimits } from '../../apiservice/fairness/stage.ts'
import type { TlsMaterial } from '../../apiservice/http/listener.ts'
import { type ApiServer, type ApiServerOptions, startApiServer } from '../../apiservice/server.ts'
import type { EtcdSettings } from '../../apiservice/store/etcd/open.ts'
import { followStore } from '../../apiservice/store/follow.ts'
import { openLevelStore } from '../../apiservice/store/level-store.ts'
import type { StoreOptions } from '../../apiservice/store/options.ts'
import type { Follow, Store } from '../../apiservice/store-contract.ts'
import { ClusterClient } from '../cluster/client.ts'
import type { Credentials } from '../cluster/transport.ts'
import type { ClientSubject, Identity } from '../identity/certificate.ts'
import {
  openServerIdentity,
  type ServerIdentity,
  type ServerIdentityOptions,
} from '../identity/server-identity.ts'
import { copySharedAuthority } from '../identity/shared-authority.ts'
import { type Clock, steadyClock } from '../kernel/clock.ts'
import { openAudit } from './audit.ts'
import type { AuditSettings } from './audit-settings.ts'
import type { Context } from './context.ts'
import { opening } from './opening.ts'
import type { ServingCertificate } from './serving-certificate.ts'
import { databaseIn, requirePlace } from './store-place.ts'
import { storedAuthority } from './stored-authority.ts'

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
  /** More names that its own certificate is made for. */
  readonly names?: readonly string[]
  /** PEM of more authorities whose client certificates are taken. */
  readonly clientCa: string | undefined
  /** Where requests are told of; nowhere when absent. */
  readonly audit?: AuditSettings | undefined
  /** How long it serves on after it was told to stop; not at all when absent. */
  readonly shutdownDelayMs?: number | undefined
  readonly limits?: InFlightLimits | undefined
  /** What is kept of older states; what the store takes by itself when absent. */
  readonly history?: Pick<StoreOptions, 'historyMs' | 'historyBytes'>
  /** Where objects are kept; in the home when absent. */
  readonly etcd?: EtcdSettings | undefined
  /** Other processes have the same etcd; only one when absent. */
  readonly sharesStore?: boolean
}

/** What is there before the server listens. */
export type Foundation = {
  readonly options: ServerOptions
  readonly identity: ServerIdentity
  readonly store: Store
  readonly follow: Follow
}

/** What is around a server: who may do what in it, what it serves, what it is in. */
export type Surroundings = Pick<
  ApiServerOptions,
  'kinds' | 'authenticators' | 'authorizers' | 'admission' | 'reviews' | 'views' | 'healthChecks'
> & {
  readonly serving: ServingCertificate
  /** PEM of every authority whose client certificates are asked for. */
  readonly clientAuthorities: () => string
  /** Calls back when `clientAuthorities` answers something else. */
  onAuthorities?(listener: () => void): void
  /** Called when the server listens; resolves when nothing is missing that it needs to be ready. */
  complete(server: Pick<RunningServer, 'operator'>): Promise<void>
}

/** Resolves when the server may listen; what it starts runs until the signal of the context aborts. */
export type Surround = (foundation: Foundation, context: Context) => Promise<Surroundings>

export type RunningServer = {
  readonly server: ApiServer
  /** Where this machine finds it. */
  readonly localUrl: string
  /** Where others find it, `https://host:port` each. */
  readonly addresses: readonly string[]
  readonly identity: ServerIdentity
  readonly serving: ServingCertificate
  /** A client of this server with the rights of an administrator, for what the server itself has to do. */
  readonly operator: ClusterClient
  /** A client of this server with a certificate of its own. */
  client(name: string, subject: ClientSubject): Promise<ClusterClient>
  /** Like `operator`, with headers of its own; closed by who asked for it. */
  operatorWith(headers: Readonly<Record<string, string>>): Promise<ClusterClient>
  /** Stops answering and ends its clients; the store is left to who opened it. */
  close(): Promise<void>
}

const credentialCheckMs = 12 * 3_600_000
const operator = { user: 'system:isthmus:operator', groups: ['system:masters'] }

/** When it rejects, nothing is left open. */
export async function openFoundation(options: ServerOptions, context: Context): Promise<Foundation> {
  const { clock, log, metrics } = context
  const storing = { ...options.history, clock, steadyClock, log, metrics }
  const following = { clock, log }
  await requirePlace(options.home, options.etcd?.place)
  if (options.etcd === undefined) {
    const identity = await openServerIdentity(identityOf(options, clock))
    const store = await openLevelStore({ ...storing, directory: databaseIn(options.home) })
    return { options, identity, store, follow: followStore(store, following) }
  }
  // gRPC takes memory, which a server without etcd can do without.
  const { openEtcdStore } = await import('../../apiservice/store/etcd/open.ts')
  const sharing = options.sharesStore === true ? 'shared' : 'alone'
  const store = await openEtcdStore({ ...storing, etcd: options.etcd, sharing }, context.signal)
  try {
    const own = identityOf(options, clock)
    await copySharedAuthority(storedAuthority(store), own)
    const identity = await openServerIdentity(own)
    return { options, identity, store, follow: followStore(store, following) }
  } catch (thrown) {
    await store.close()
    throw thrown
  }
}

function identityOf(options: ServerOptions, clock: Clock): ServerIdentityOptions {
  return {
    folder: join(options.home, 'pki'),
    name: `isthmus ${options.name}`,
    names: [
      'localhost',
      '127.0.0.1',
      '::1',
      ...addressesOf(options).map(address => new URL(address).hostname.replace(/^\[|\]$/g, '')),
      reachable(options.host),
      ...(options.names ?? []),
    ],
    clock,
  }
}

/** Resolves when all is there but its readiness. When it rejects, what it opened is closed again. */
export async function startServer(
  foundation: Foundation,
  surround: Surround,
  context: Context,
): Promise<RunningServer> {
  return opening(context, async opened => {
    const stop = new AbortController()
    const inner = { ...context, signal: stop.signal }
    const clients: ClusterClient[] = []
    opened.add(() => {
      for (const client of clients) client.close()
    })
    const surroundings = await surround(foundation, inner)
    const audit = await openAudit(foundation.options.audit, context, opened)
    const server = await listen(foundation, { ...surroundings, audit }, context)
    opened.add(() => server.close())
    opened.add(() => stop.abort())
    const showChanged = (): void => server.setSecureContext(shownBy(surroundings))
    surroundings.serving.follow(showChanged, inner)
    surroundings.onAuthorities?.(showChanged)
    const started = await running({ foundation, surroundings, server, context: inner, clients })
    await surroundings.complete(started)
    return { ...started, close: () => opened.close() }
  })
}

function listen(
  { options, store }: Foundation,
  surroundings: Surroundings & { readonly audit: AuditStages },
  { clock, log, metrics }: Context,
): Promise<ApiServer> {
  return startApiServer({
    ...surroundings,
    name: options.name,
    store,
    host: options.host,
    port: options.port,
    tls: shownBy(surroundings),
    anonymous: true,
    shutdownDelayMs: options.shutdownDelayMs,
    limits: options.limits,
    clock,
    steadyClock,
    log,
    metrics,
  })
}

/**
 * The authorities are named also after a renewal: a client that does not find its own among those that are named shows no
 * certificate.
 */
function shownBy({ serving, clientAuthorities }: Surroundings): TlsMaterial {
  const { certificate, key } = serving.current()
  return { cert: certificate, key, clientCa: [clientAuthorities()] }
}

type Parts = {
  readonly foundation: Foundation
  readonly surroundings: Surroundings
  readonly server: ApiServer
  readonly context: Context
  /** Of this server; they are added here. */
  readonly clients: ClusterClient[]
}

async function running(parts: Parts): Promise<Omit<RunningServer, 'close'>> {
  const { foundation, surroundings, server, context, clients } = parts
  const { identity, options } = foundation
  const { serving } = surroundings
  const localUrl = originOf(reachable(options.host), server.port)
  const open = async (name: string, subject: ClientSubject, headers = {}): Promise<ClusterClient> => {
    const { clock, metrics } = context
    const credentials = ownCredentials(() => identity.client(name, subject), serving, clock)
    await credentials()
    const named = serving.serverName === undefined ? {} : { tlsServerName: serving.serverName }
    const own = { name: options.name, servers: [localUrl], headers }
    return new ClusterClient({ ...own, credentials, clock, metrics, ...named })
  }
  const client = async (name: string, subject: ClientSubject): Promise<ClusterClient> => {
    const made = await open(name, subject)
    clients.push(made)
    return made
  }
  return {
    server,
    localUrl,
    addresses: addressesOf(options),
    identity,
    serving,
    operator: await client('operator', operator),
    client,
    operatorWith: headers => open('operator', operator, headers),
  }
}

/** Looked at twice a day, whether they have to be renewed. */
function ownCredentials(
  open: () => Promise<Identity>,
  serving: ServingCertificate,
  clock: Clock,
): () => Promise<Credentials> {
  let opened: { readonly atMs: number; readonly identity: Identity } | undefined
  return async () => {
    if (opened === undefined || clock.now() - opened.atMs >= credentialCheckMs) {
      opened = { atMs: clock.now(), identity: await open() }
    }
    const { certificate, key } = opened.identity
    return { ca: serving.trusted(), cert: certificate, key }
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
