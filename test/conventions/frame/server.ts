/** One server for all tests of a file, with every kind that a hub or a member serves and kinds that no server knows. */
import { clusterIpPlugin } from '../../../apiservice/admission/cluster-ip.ts'
import {
  makeNamespaceLifecycle,
  storedNamespaces,
} from '../../../apiservice/admission/namespace-lifecycle.ts'
import { mastersAuthorizer } from '../../../apiservice/authz/masters.ts'
import { RbacAuthorizer } from '../../../apiservice/authz/rbac.ts'
import { accessReviews } from '../../../apiservice/authz/reviews.ts'
import type { ApiServerOptions } from '../../../apiservice/server.ts'
import { followStore } from '../../../apiservice/store/follow.ts'
import { openMemoryStore } from '../../../apiservice/store/memory-store.ts'
import { ImportableView } from '../../../apiservice/view/importable.ts'
import { type AnyKind, resourceOf } from '../../../src/api/kind.ts'
import { ClusterSetServiceKind } from '../../../src/api/kinds/cluster-set-service.ts'
import { kinds } from '../../../src/api/kinds/index.ts'
import type { KubeObject } from '../../../src/api/meta.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { qualified } from '../../../src/kernel/errors.ts'
import { silentLogger } from '../../../src/kernel/log.ts'
import { noMetrics } from '../../../src/kernel/metrics.ts'
import { type TestServer, testServer } from '../../support/api-server.ts'
import { SpaceKind } from '../../support/kinds.ts'
import { GadgetKind } from './gadget.ts'

/** `Space` is as if it were built in, `Gadget` as if it came from a CustomResourceDefinition. */
export const servedKinds: readonly AnyKind[] = [GadgetKind, SpaceKind, ...kinds]

/** Blocks that are wide enough for every Service of a file. */
const ledger = { cidrs: ['10.96.0.0/16', 'fd00:96::/112'], nodePorts: { first: 30_000, last: 32_767 } }

/** Whose namespace is the one of the view under test. */
export const viewer = { cluster: 'east', namespace: 'default' }

/** What the view shows to its reader, under the same name. */
export const seen = {
  kind: ClusterSetServiceKind as AnyKind,
  /** For all members, while somebody exports it; a sample says everything that can be said. */
  shown: ({ spec, status, ...service }: KubeObject): KubeObject => ({
    ...service,
    spec: { ...(spec as object), consumers: undefined },
    status: { ...(status as object), releasedAt: undefined, audiences: undefined },
  }),
}

export async function startConventionServer(options: Partial<ApiServerOptions> = {}): Promise<TestServer> {
  const base = { clock: options.clock ?? systemClock, log: silentLogger, metrics: noMetrics }
  const store = options.store ?? (await openMemoryStore(base))
  const follow = followStore(store, base)
  const stop = new AbortController()
  const rbac = new RbacAuthorizer()
  const clusterIps = clusterIpPlugin({ ...ledger, ...base })
  await Promise.all([rbac.start(follow, stop.signal), clusterIps.start(follow, stop.signal)])
  const view = new ImportableView()
  view.setMembers([{ ...viewer, accepted: true, namespaces: undefined, revision: 0 }], 0)
  const server = await testServer({
    kinds: servedKinds,
    store,
    authorizers: [mastersAuthorizer, rbac],
    admission: [makeNamespaceLifecycle(storedNamespaces(store)), clusterIps],
    reviews: new Map([
      // Whoever stores nothing answers what it was asked, unless it knows better.
      ...servedKinds
        .filter(kind => kind.storage === 'review')
        .map(
          kind =>
            [qualified(resourceOf(kind)), async ({ object }: { object: KubeObject }) => object] as const,
        ),
      ...accessReviews({ authorizer: mastersAuthorizer, rbac, clock: base.clock }),
    ]),
    views: new Map(
      servedKinds
        .filter(kind => kind.storage === 'view')
        .map(kind => [qualified(resourceOf(kind)), view] as const),
    ),
    ...options,
  })
  return {
    ...server,
    close: async () => {
      stop.abort()
      await server.close()
    },
  }
}
