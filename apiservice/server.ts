/** Puts a whole API server together: sockets, chain, registry. */
import type { AnyKind } from '../src/api/kind.ts'
import { never, sleep } from '../src/kernel/abort.ts'
import type { Clock } from '../src/kernel/clock.ts'
import { methodNotAllowed } from '../src/kernel/errors.ts'
import type { Logger } from '../src/kernel/log.ts'
import type { Metrics } from '../src/kernel/metrics.ts'
import { makeAdmission } from './admission/stage.ts'
import { type AuditStages, noAudit } from './audit/stage.ts'
import { impersonationStage } from './authn/impersonation.ts'
import { authnStage } from './authn/stage.ts'
import { authorizersInTurn } from './authz/chain-of-authorizers.ts'
import { requireAccess } from './authz/forbidden-answer.ts'
import { authzStage } from './authz/stage.ts'
import { makeChain, type NonResource } from './chain.ts'
import type { AdmissionPlugin, Authenticator, Authorizer, Review, View } from './contract.ts'
import { makeDiscovery } from './discovery/handler.ts'
import { fairness, type InFlightLimits } from './fairness/stage.ts'
import { deadline } from './http/deadline.ts'
import { type Drain, makeDrain, refuseWhenDraining } from './http/drain.ts'
import { Exchanges } from './http/exchange.ts'
import { type HealthCheck, makeHealth } from './http/health.ts'
import { listen, type TlsMaterial } from './http/listener.ts'
import { recovery } from './http/recover.ts'
import { RequestMetrics, servedKey } from './http/request-metrics.ts'
import { shutDown } from './http/shutdown.ts'
import { render, requireAcceptable } from './negotiation/stage.ts'
import { makeRegistry } from './registry/registry.ts'
import { backupPath, encodeBackup } from './store/backup.ts'
import type { Store } from './store-contract.ts'

export type ApiServerOptions = {
  /** Names the server in logs. */
  readonly name: string
  readonly kinds: readonly AnyKind[]
  readonly store: Store
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly tls: TlsMaterial
  readonly authenticators: readonly Authenticator[]
  /** Whether a client without credentials goes on as `system:anonymous`. Probes of a kubelet have none. */
  readonly anonymous: boolean
  /** Asked in turn. */
  readonly authorizers: readonly Authorizer[]
  /** Asked in turn. */
  readonly admission: readonly AdmissionPlugin[]
  /** By `<plural>.<group>`. */
  readonly reviews: ReadonlyMap<string, Review>
  /** By `<plural>.<group>`. */
  readonly views: ReadonlyMap<string, View>
  readonly healthChecks: readonly HealthCheck[]
  /** Nobody is told of requests when absent. */
  readonly audit?: AuditStages | undefined
  /** How long it serves on after readyz has failed, for those in front of it to notice; not at all when absent. */
  readonly shutdownDelayMs?: number | undefined
  /** How much is done at once; those of kube-apiserver when absent. */
  readonly limits?: InFlightLimits | undefined
  readonly clock: Clock
  /** Goes on evenly when the time of day is set, which `clock` tells; that one when absent. */
  readonly steadyClock?: Clock | undefined
  readonly log: Logger
  readonly metrics: Metrics
}

export type ApiServer = {
  /** `https://host:port`, without a slash at the end. */
  readonly url: string
  readonly port: number
  /** New connections get this certificate; open ones go on. */
  setSecureContext(tls: TlsMaterial): void
  /** What `/readyz` says. A new server is not ready. */
  ready(isReady: boolean): void
  /** From now on readyz fails. Resolves after the delay, in which everything else is answered as before. */
  leave(): Promise<void>
  /**
   * Leaves, and then stops: connections, new requests get 429; waits for those under way (10 s at most), ends
   * watches, closes the connections. The store stays open.
   */
  close(): Promise<void>
}

/** Listens when it resolves. Rejects with one clear sentence when the port cannot be had. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const log = options.log.child({ server: options.name })
  const drain = makeDrain()
  const state: State = { ready: false, address: '' }
  const exchanges = new Exchanges({
    responder: compose({ ...options, log }, drain, state),
    clock: options.clock,
    log,
    metrics: new RequestMetrics(options.metrics, servedKeys(options.kinds)),
  })
  const listener = await listen({
    host: options.host,
    port: options.port,
    tls: options.tls,
    clock: options.clock,
    log,
    handle: (request, response, target) => exchanges.handle(request, response, target),
  })
  state.address = `${options.host.includes(':') ? `[${options.host}]` : options.host}:${listener.port}`
  log.info('listening', { address: state.address })
  const leave = onlyOnce(async () => {
    drain.announce()
    const { clock, shutdownDelayMs = 0 } = options
    // A server that never was ready has nobody in front of it.
    if (state.ready && shutdownDelayMs > 0) await sleep(clock, shutdownDelayMs, never)
  })
  return {
    url: `https://${state.address}`,
    port: listener.port,
    setSecureContext: tls => listener.setSecureContext(tls),
    ready: isReady => {
      state.ready = isReady
    },
    leave,
    close: async () => {
      await leave()
      drain.begin()
      await shutDown(exchanges, listener, options.clock)
      log.info('closed')
    },
  }
}

/** Whoever asks later waits for the same. */
function onlyOnce(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}

type State = { ready: boolean; address: string }

function compose(options: ApiServerOptions, drain: Drain, state: State) {
  const { kinds, audit = noAudit, clock, log, metrics } = options
  const authorizer = authorizersInTurn(options.authorizers)
  const access = requireAccess(authorizer)
  const health = makeHealth([...ownChecks(drain, state, options.store), ...options.healthChecks], log)
  const discovery = makeDiscovery({
    kinds,
    serverAddress: () => state.address,
    otherPaths: [...health.paths, '/metrics', backupPath],
  })
  return makeChain({
    render: render(clock, recovery(log)),
    refuseWhenDraining: refuseWhenDraining(drain),
    deadline: deadline(options.steadyClock ?? clock),
    authenticate: authnStage(options.authenticators, { anonymous: options.anonymous, log, metrics }),
    auditStrangers: audit.strangers,
    audit: audit.requests,
    auditImpersonated: audit.impersonated,
    impersonate: impersonationStage(access),
    fairness: fairness(options),
    authorize: authzStage(authorizer),
    requireAcceptable,
    nonResources: [health, metricsText(metrics), storeBackup(options.store, clock), discovery],
    resources: makeRegistry({
      ...options,
      admission: makeAdmission(options.admission),
      authorize: access,
    }),
  })
}

function ownChecks(drain: Drain, state: State, store: Store): readonly HealthCheck[] {
  return [
    {
      name: 'ready',
      check: () => {
        if (!state.ready) throw new Error('the server is still starting')
      },
    },
    {
      name: 'shutdown',
      check: () => {
        if (drain.announced) throw new Error('the server is shutting down')
      },
    },
    {
      name: 'store',
      check: () => {
        const fault = store.fault()
        if (fault !== undefined) throw new Error(`the store cannot write, ${fault}`)
      },
    },
  ]
}

function metricsText(metrics: Metrics): NonResource {
  return request => {
    if (request.path !== '/metrics') return undefined
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
    const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
    return metrics.text().then(body => ({ type: 'raw', code: 200, headers, body }))
  }
}

/** All objects at one revision, while others write. For who may do everything: there are secrets in it. */
function storeBackup(store: Store, clock: Clock): NonResource {
  return request => {
    if (request.path !== backupPath) return undefined
    if (request.method !== 'GET') throw methodNotAllowed()
    const headers = { 'content-type': 'application/octet-stream' }
    return store
      .snapshot()
      .then(snapshot => ({ type: 'slices', code: 200, headers, slices: encodeBackup(snapshot, clock.now()) }))
  }
}

/** What bounds the labels of request metrics. */
function servedKeys(kinds: readonly AnyKind[]): ReadonlySet<string> {
  return new Set(kinds.flatMap(kind => kind.versions.map(v => servedKey(kind.group, v.name, kind.plural))))
}
