/** A server with no kube-apiserver underneath: it keeps the core kinds, users and rights by itself. */
import { clusterIpPlugin } from '../../apiservice/admission/cluster-ip.ts'
import { makeNamespaceLifecycle, storedNamespaces } from '../../apiservice/admission/namespace-lifecycle.ts'
import { noClusterIpPlugin } from '../../apiservice/admission/no-cluster-ip.ts'
import { type Warner, warningPlugin } from '../../apiservice/admission/warnings.ts'
import { bearerAuthenticator, type TokenLookup } from '../../apiservice/authn/bearer-token.ts'
import { clientCertAuthenticator } from '../../apiservice/authn/client-cert.ts'
import { Guesses } from '../../apiservice/authn/guesses.ts'
import { authorizersInTurn } from '../../apiservice/authz/chain-of-authorizers.ts'
import { escalationPlugin } from '../../apiservice/authz/escalation.ts'
import { healthAuthorizer } from '../../apiservice/authz/health-paths.ts'
import { mastersAuthorizer } from '../../apiservice/authz/masters.ts'
import { RbacAuthorizer } from '../../apiservice/authz/rbac.ts'
import { accessReviews } from '../../apiservice/authz/reviews.ts'
import type { AdmissionPlugin, Authorizer, Review, View } from '../../apiservice/contract.ts'
import type { Follow } from '../../apiservice/store-contract.ts'
import { kinds } from '../api/kinds/index.ts'
import { bootstrap } from '../standalone/bootstrap.ts'
import { startStandaloneLoops } from '../standalone/start.ts'
import { policy } from './component-rights.ts'
import type { Context } from './context.ts'
import type { Duty } from './leadership.ts'
import type { Foundation, ServerOptions, Surround, Surroundings } from './server.ts'
import { ownCertificate } from './serving-certificate.ts'
import { storedFeed } from './stored-feed.ts'

/** What only one kind of server has. */
export type Extension = {
  readonly tokens: readonly TokenLookup[]
  /** Asked before RBAC. */
  readonly authorizers: readonly Authorizer[]
  readonly reviews: ReadonlyMap<string, Review>
  readonly views: ReadonlyMap<string, View>
  readonly warners: readonly Warner[]
  /** Other servers have the same store, so that nobody knows in time which addresses Services have. */
  readonly sharesStore?: boolean
  readonly admission: readonly AdmissionPlugin[]
  /** Given the loops that only one server of a store may run; they run at once when it is absent. */
  readonly takesLoops?: (loops: Duty) => void
}

/** Of kube-apiserver. */
const nodePorts = { first: 30_000, last: 32_767 }

export const noExtension: Extension = {
  tokens: [],
  authorizers: [],
  reviews: new Map(),
  views: new Map(),
  warners: [],
  admission: [],
}

export function standalone(extension: Extension): Surround {
  return (foundation, context) => surround(foundation, extension, context)
}

async function surround(
  { options, identity, store, follow }: Foundation,
  extension: Extension,
  context: Context,
): Promise<Surroundings> {
  const { clock, log, metrics, signal } = context
  const rbac = new RbacAuthorizer()
  const [addresses] = await Promise.all([
    addressPlugin(options, extension, { follow, context }),
    rbac.start(follow, signal),
  ])
  const authorizers = [healthAuthorizer, mastersAuthorizer, ...extension.authorizers, rbac]
  const authorizer = authorizersInTurn(authorizers)
  const authorities = identity.caBundle + (options.clientCa ?? '')
  const served = kinds.filter(kind => kind.servers.some(s => s === options.serves || s === 'standalone'))
  return {
    kinds: served,
    serving: ownCertificate(identity, options.name),
    clientAuthorities: () => authorities,
    authenticators: [
      clientCertAuthenticator({ caBundle: () => authorities, clock, log }),
      bearerAuthenticator(extension.tokens, new Guesses({ clock, metrics })),
    ],
    authorizers,
    admission: [
      makeNamespaceLifecycle(storedNamespaces(store)),
      escalationPlugin({ authorizer, rbac }),
      addresses,
      ...extension.admission,
      warningPlugin(extension.warners, log),
    ],
    reviews: new Map([...accessReviews({ authorizer, rbac, clock }), ...extension.reviews]),
    views: extension.views,
    healthChecks: [],
    complete: async ({ operator }) => {
      const objects = storedFeed(follow, { clock, log })
      const loops: Duty = (cluster, { signal: until }) =>
        startStandaloneLoops({ cluster, objects, kinds: served, clock, log }, until)
      await bootstrap({ cluster: operator, policy, log }, signal)
      if (extension.takesLoops === undefined) await loops(operator, context)
      else extension.takesLoops(loops)
    },
  }
}

type Following = { readonly follow: Follow; readonly context: Context }

async function addressPlugin(
  { serviceCidrs }: ServerOptions,
  { sharesStore }: Extension,
  { follow, context }: Following,
): Promise<AdmissionPlugin> {
  if (sharesStore) return noClusterIpPlugin()
  const { clock, log, signal } = context
  const plugin = clusterIpPlugin({ cidrs: serviceCidrs, nodePorts, clock, log })
  await plugin.start(follow, signal)
  return plugin
}
