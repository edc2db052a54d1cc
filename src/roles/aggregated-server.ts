/** A server behind a kube-apiserver: that one keeps the core kinds, users and rights, this one asks it. */
import { clusterNamespaces } from '../../apiservice/admission/cluster-namespaces.ts'
import { makeNamespaceLifecycle } from '../../apiservice/admission/namespace-lifecycle.ts'
import { type Warner, warningPlugin } from '../../apiservice/admission/warnings.ts'
import {
  AuthenticationConfig,
  authenticationConfigMap,
} from '../../apiservice/authn/authentication-config.ts'
import { bearerAuthenticator } from '../../apiservice/authn/bearer-token.ts'
import { clientCertAuthenticator } from '../../apiservice/authn/client-cert.ts'
import { frontProxyAuthenticator } from '../../apiservice/authn/front-proxy.ts'
import { Guesses } from '../../apiservice/authn/guesses.ts'
import { ownComponents } from '../../apiservice/authn/own-components.ts'
import { reviewedTokens } from '../../apiservice/authn/token-review.ts'
import { fixedRights } from '../../apiservice/authz/fixed-rights.ts'
import { healthAuthorizer } from '../../apiservice/authz/health-paths.ts'
import { mastersAuthorizer } from '../../apiservice/authz/masters.ts'
import { accessReviewAuthorizer } from '../../apiservice/authz/subject-access-review.ts'
import { ConfigMapKind } from '../api/kinds/config-map.ts'
import { kinds } from '../api/kinds/index.ts'
import { NamespaceKind } from '../api/kinds/namespace.ts'
import type { ClusterClient } from '../cluster/client.ts'
import { resource } from '../cluster/cluster.ts'
import { startInformer } from '../cluster/informer.ts'
import { keepCaBundle } from '../identity/api-service.ts'
import { unlessAborted } from '../kernel/abort.ts'
import { isReason } from '../kernel/errors.ts'
import { apiServiceNames } from './api-service-names.ts'
import { componentRights } from './component-rights.ts'
import type { Context } from './context.ts'
import type { Foundation, Surround, Surroundings } from './server.ts'
import { certificateFromFiles, ownCertificate, type ServingCertificate } from './serving-certificate.ts'
import { connect } from './underneath.ts'

export type AggregationOptions = {
  /** Of the cluster that the server stands in: a path, or `in-cluster`. */
  readonly kubeconfig: string
  /** For whom to believe, and whose a token is; the same unless told. */
  readonly authenticationKubeconfig: string | undefined
  /** For who may do what; the same unless told. */
  readonly authorizationKubeconfig: string | undefined
  /** The Service that the APIServices name. */
  readonly service: { readonly namespace: string; readonly name: string }
  /** Paths of the serving certificate, when others make it. */
  readonly certificate: { readonly certificate: string; readonly key: string } | undefined
}

/** The kube-apiserver underneath, as it is asked for different things; all may be one. */
export type Underneath = {
  readonly cluster: ClusterClient
  readonly authentication: ClusterClient
  readonly authorization: ClusterClient
}

/** Rejects when a kubeconfig cannot be used; a kube-apiserver that is away is none of its business. */
export async function connectUnderneath(options: AggregationOptions, context: Context): Promise<Underneath> {
  const { kubeconfig, authenticationKubeconfig, authorizationKubeconfig } = options
  const cluster = await connect({ path: kubeconfig }, context)
  const another = async (path: string | undefined): Promise<ClusterClient> =>
    path === undefined || path === kubeconfig ? cluster : connect({ path }, context)
  return {
    cluster,
    authentication: await another(authenticationKubeconfig),
    authorization: await another(authorizationKubeconfig),
  }
}

/** The names under which the Service is known in its cluster; kube-apiserver uses the first. */
export function namesOf({ namespace, name }: AggregationOptions['service']): readonly [string, ...string[]] {
  const known = `${name}.${namespace}.svc`
  return [known, `${name}.${namespace}`, `${known}.cluster.local`]
}

export function aggregated(
  underneath: Underneath,
  options: AggregationOptions,
  warners: readonly Warner[],
): Surround {
  return (foundation, context) => surround(foundation, { underneath, options, warners, context })
}

type Parts = {
  readonly underneath: Underneath
  readonly options: AggregationOptions
  readonly warners: readonly Warner[]
  readonly context: Context
}

async function surround(foundation: Foundation, parts: Parts): Promise<Surroundings> {
  const { underneath, context } = parts
  const { cluster, authentication, authorization } = underneath
  const { clock, log, metrics, signal } = context
  const { identity, options } = foundation
  await requireConfigMap(authentication, signal)
  const namespaces = startInformer(cluster, resource(NamespaceKind), { clock, log }, signal)
  const config = followConfig(authentication, context)
  const userAuthorities = (): string => (options.clientCa ?? '') + lines(config.clientCa)
  return {
    kinds: kinds.filter(kind => kind.servers.some(server => server === options.serves)),
    serving: servingOf(foundation, parts),
    // The front proxy's authority is named to clients, but vouches for nobody else.
    clientAuthorities: () => identity.caBundle + userAuthorities() + lines(config.frontProxy.caBundle),
    onAuthorities: listener => config.onChange(listener),
    authenticators: [
      frontProxyAuthenticator({ settings: () => config.frontProxy, clock, log }),
      ownComponents(clientCertAuthenticator({ caBundle: () => identity.caBundle, clock, log })),
      clientCertAuthenticator({ caBundle: userAuthorities, clock, log }),
      bearerAuthenticator(
        [reviewedTokens({ cluster: authentication, clock })],
        new Guesses({ clock, metrics }),
      ),
    ],
    authorizers: [
      healthAuthorizer,
      mastersAuthorizer,
      // What runs in this process goes on when kube-apiserver is away.
      fixedRights(componentRights),
      accessReviewAuthorizer({ cluster: authorization, clock, log }),
    ],
    admission: [
      makeNamespaceLifecycle(clusterNamespaces({ cluster, informer: namespaces, clock })),
      warningPlugin(parts.warners, log),
    ],
    reviews: new Map(),
    views: new Map(),
    healthChecks: [
      { name: 'authentication', check: () => config.check() },
      { name: 'namespaces', check: () => requireSynced(namespaces.hasSynced()) },
    ],
    complete: async () => {
      await unlessAborted(Promise.all([namespaces.synced, config.synced]), signal)
    },
  }
}

/** A text that ends with a line of its own. */
function lines(pem: string): string {
  return pem === '' || pem.endsWith('\n') ? pem : `${pem}\n`
}

function requireSynced(hasSynced: boolean): void {
  if (!hasSynced) throw new Error('the namespaces of the cluster have not been read yet')
}

function followConfig(cluster: ClusterClient, { clock, log, signal }: Context): AuthenticationConfig {
  const { namespace, name } = authenticationConfigMap
  const selection = { namespace, fieldSelector: `metadata.name=${name}`, clock, log }
  return new AuthenticationConfig(startInformer(cluster, resource(ConfigMapKind), selection, signal), log)
}

/** A cluster that is away is waited for; one that says no is not. */
async function requireConfigMap(cluster: ClusterClient, signal: AbortSignal): Promise<void> {
  const { namespace, name } = authenticationConfigMap
  try {
    await cluster.get(resource(ConfigMapKind), authenticationConfigMap, signal)
  } catch (thrown) {
    signal.throwIfAborted()
    if (!isReason(thrown, 'Forbidden', 'Unauthorized')) return
    throw new Error(
      `kube-apiserver does not let this server read the ConfigMap ${namespace}/${name} (${thrown.message}): bind the Role extension-apiserver-authentication-reader in ${namespace} to its user`,
      { cause: thrown },
    )
  }
}

function servingOf({ identity, options }: Foundation, parts: Parts): ServingCertificate {
  const { service, certificate } = parts.options
  const [serverName] = namesOf(service)
  if (certificate !== undefined) return certificateFromFiles({ ...certificate, serverName })
  const { clock, log, signal } = parts.context
  const { cluster } = parts.underneath
  const apiServices = apiServiceNames(options.serves)
  const keeping = { cluster, apiServices, service, caBundle: identity.caBundle, clock, log }
  keepCaBundle(keeping, signal)
  return ownCertificate(identity, options.name)
}
