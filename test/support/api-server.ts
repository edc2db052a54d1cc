import { makeNamespaceLifecycle, storedNamespaces } from '../../apiservice/admission/namespace-lifecycle.ts'
import { bearerAuthenticator } from '../../apiservice/authn/bearer-token.ts'
import { clientCertAuthenticator } from '../../apiservice/authn/client-cert.ts'
import { Guesses } from '../../apiservice/authn/guesses.ts'
import { authorizersInTurn } from '../../apiservice/authz/chain-of-authorizers.ts'
import { healthAuthorizer } from '../../apiservice/authz/health-paths.ts'
import { mastersAuthorizer } from '../../apiservice/authz/masters.ts'
import { RbacAuthorizer } from '../../apiservice/authz/rbac.ts'
import { accessReviews } from '../../apiservice/authz/reviews.ts'
import type { View } from '../../apiservice/contract.ts'
import { type ApiServer, type ApiServerOptions, startApiServer } from '../../apiservice/server.ts'
import { followStore } from '../../apiservice/store/follow.ts'
import { openMemoryStore } from '../../apiservice/store/memory-store.ts'
import type { Store } from '../../apiservice/store-contract.ts'
import type { AnyKind } from '../../src/api/kind.ts'
import { kinds as allKinds } from '../../src/api/kinds/index.ts'
import {
  type ClientSubject,
  type Identity,
  issueClient,
  issueServing,
  makeAuthority,
} from '../../src/identity/certificate.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { memoryLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { type ApiClient, apiClient, type Protocol } from './api-client.ts'

export type TestServer = ApiServer & {
  readonly store: Store
  readonly log: ReturnType<typeof memoryLogger>
  readonly authority: Identity
  /** A member of system:masters. */
  readonly admin: Identity
  issue(subject: ClientSubject): Promise<Identity>
  /** Without an identity it is the admin's; `null` sends no certificate. */
  client(protocol?: Protocol, identity?: Identity | null): ApiClient
}

const lifetime = { clock: systemClock, lifetimeMs: 3_600_000 }

/** What a member serves where no kube-apiserver is underneath. */
const standaloneKinds = allKinds.filter(kind => kind.servers.some(server => server !== 'hub'))

/**
 * A whole API server over a memory store, on a free port of the loopback, with an authority of its own, RBAC and
 * NamespaceLifecycle. The namespace `default` is there.
 */
export async function testServer(
  options: Partial<ApiServerOptions> & { readonly kinds?: readonly AnyKind[] } = {},
): Promise<TestServer> {
  const authority = await makeAuthority('test', lifetime)
  const admin = await issueClient(authority, { user: 'admin', groups: ['system:masters'] }, lifetime)
  const clock = options.clock ?? systemClock
  const log = memoryLogger()
  const base = { clock, log, metrics: noMetrics }
  const store = options.store ?? (await openMemoryStore(base))
  const rbac = new RbacAuthorizer()
  const stopping = new AbortController()
  await rbac.start(followStore(store, base), stopping.signal)
  const authorizers = options.authorizers ?? [mastersAuthorizer, healthAuthorizer, rbac]
  const server = await startApiServer({
    ...base,
    name: 'test',
    kinds: standaloneKinds,
    store,
    host: '127.0.0.1',
    port: 0,
    tls: await servingTls(authority),
    authenticators: [
      clientCertAuthenticator({ ...base, clock: systemClock, caBundle: () => authority.certificate }),
      // No token is good.
      bearerAuthenticator([], new Guesses({ ...base, ...options })),
    ],
    anonymous: true,
    authorizers,
    admission: [makeNamespaceLifecycle(storedNamespaces(store))],
    reviews: accessReviews({ authorizer: authorizersInTurn(authorizers), rbac, clock }),
    views: new Map<string, View>(),
    healthChecks: [],
    ...options,
  })
  server.ready(true)
  const clients: ApiClient[] = []
  const client = (protocol: Protocol = 'HTTP/1.1', identity: Identity | null = admin): ApiClient => {
    const made = apiClient(protocol, {
      url: server.url,
      ca: authority.certificate,
      ...(identity === null ? {} : { identity }),
    })
    clients.push(made)
    return made
  }
  return {
    ...server,
    store,
    log,
    authority,
    admin,
    client,
    issue: subject => issueClient(authority, subject, lifetime),
    close: async () => {
      stopping.abort()
      await server.close()
      await Promise.all(clients.map(one => one.close()))
      await store.close()
    },
  }
}

async function servingTls(authority: Identity) {
  const serving = await issueServing(authority, ['127.0.0.1', 'localhost'], lifetime)
  return { cert: serving.certificate, key: serving.key, clientCa: [authority.certificate] }
}
