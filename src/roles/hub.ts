/** The hub: its API server, who may join it, and the controllers that merge what members export. */
import { defaultMemberQuota, type MemberQuota, memberQuota } from '../../apiservice/admission/member-quota.ts'
import { joinTokens, storedJoinTokens } from '../../apiservice/authn/join-token.ts'
import { type OidcOptions, oidcTokens } from '../../apiservice/authn/oidc.ts'
import { MemberDirectory } from '../../apiservice/authz/member-directory.ts'
import { memberAuthorizer } from '../../apiservice/authz/member-rights.ts'
import type { Review } from '../../apiservice/contract.ts'
import { ImportableView } from '../../apiservice/view/importable.ts'
import { followMembers } from '../../apiservice/view/members.ts'
import { resourceOf } from '../api/kind.ts'
import { ImportableKind } from '../api/kinds/importable.ts'
import { type MemberJoin, MemberJoinKind } from '../api/kinds/member-join.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ElectionTiming } from '../election/election.ts'
import { startHubFlow } from '../hub-flow.ts'
import { MemberAdmission, removeExpiredTokens } from '../identity/member-admission.ts'
import { background } from '../kernel/abort.ts'
import { qualified, unavailable } from '../kernel/errors.ts'
import { every } from '../kernel/work-queue.ts'
import type { Context, Running } from './context.ts'
import { type Duty, takeDuties } from './leadership.ts'
import { type Opened, opening } from './opening.ts'
import { FollowedPools, followPools } from './pools.ts'
import { openFoundation, type RunningServer, type ServerOptions, startServer } from './server.ts'
import { noExtension, standalone } from './standalone-server.ts'

export type HubOptions = Omit<ServerOptions, 'name' | 'serves'> & {
  /** Blocks that ClusterSetIPs are taken from. */
  readonly clusterSetCidrs: readonly string[]
  /** Answers the blocks as they are set by now; throws when they are of no use. Asked all the time when it is given. */
  readonly rereadCidrs?: (() => readonly string[]) | undefined
  /** How long the addresses of a service that nobody exports any more are kept for it. */
  readonly quarantineMs: number
  readonly controllers: boolean
  /** How it is settled which of several hubs on one store merges; absent when there is only this one. */
  readonly election?: ElectionTiming | undefined
  /** How much each member may keep here. */
  readonly memberQuota?: MemberQuota
  /** Who else is known, by tokens of an OpenID provider. */
  readonly oidc?: OidcOptions | undefined
}

export type RunningHub = Running & { readonly running: RunningServer; readonly admin: Cluster }

const tokenSweepMs = 300_000

/** Resolves when the hub is ready. */
export function startHub(options: HubOptions, context: Context): Promise<RunningHub> {
  return opening(context, opened => openHub(options, context, opened))
}

async function openHub(options: HubOptions, context: Context, opened: Opened): Promise<RunningHub> {
  const sharesStore = options.election !== undefined
  const foundation = await openFoundation({ ...options, name: 'hub', serves: 'hub', sharesStore }, context)
  opened.add(() => foundation.store.close())
  const directory = new MemberDirectory(foundation.store)
  const view = new ImportableView()
  const joining = new Joining()
  const duties: Duty[] = []
  const stop = new AbortController()
  opened.add(() => stop.abort())
  await directory.start(foundation.follow, stop.signal)
  await followMembers(foundation.follow, view, stop.signal)
  const quota = memberQuota(options.memberQuota ?? defaultMemberQuota)
  await quota.start(foundation.follow, stop.signal)
  const running = await startServer(
    foundation,
    standalone({
      ...noExtension,
      tokens: [
        ...(options.oidc === undefined ? [] : [oidcTokens(options.oidc)]),
        joinTokens({ clock: context.clock, find: storedJoinTokens(foundation.store) }),
      ],
      authorizers: [memberAuthorizer(directory)],
      reviews: new Map([[qualified(resourceOf(MemberJoinKind)), joining.review]]),
      views: new Map([[qualified(resourceOf(ImportableKind)), view]]),
      sharesStore,
      admission: [quota],
      takesLoops: loops => duties.push(loops),
    }),
    context,
  )
  opened.add(() => running.close())
  opened.add(() => stop.abort())
  joining.open(admissionOf(running, context))
  const { operator: admin } = running
  if (options.controllers) {
    const pools = new FollowedPools(options.clusterSetCidrs)
    if (options.rereadCidrs !== undefined)
      followPools(options.rereadCidrs, pools, { ...context, signal: stop.signal })
    duties.push((cluster, inner) => startControllers(cluster, options, pools, inner))
  }
  const leadership = { name: 'isthmus-hub', timing: options.election, duties }
  const leading = await takeDuties(leadership, running, { ...context, signal: stop.signal })
  running.server.ready(true)
  opened.add(() => running.server.leave())
  // First of all: others follow while this one still serves.
  opened.add(() => leading.close())
  return { running, admin, close: () => opened.close() }
}

function admissionOf({ identity, operator: hub }: RunningServer, { clock, log }: Context): MemberAdmission {
  return new MemberAdmission({
    hub,
    authority: () => identity.authority,
    caBundle: () => identity.caBundle,
    clock,
    log,
  })
}

/** Resolves when what is stored has been read and merging goes on. */
async function startControllers(
  hub: Cluster,
  { quarantineMs }: HubOptions,
  pools: FollowedPools,
  context: Context,
): Promise<void> {
  const { clock, log, metrics, signal } = context
  const sweep = { name: 'remove expired join tokens', intervalMs: tokenSweepMs, clock, log }
  background(sweep.name, log, signal, () =>
    every(sweep, inner => removeExpiredTokens(hub, clock, inner), signal),
  )
  const flow = startHubFlow({ hub, clusterSetCidrs: pools.cidrs, quarantineMs, clock, log, metrics }, signal)
  pools.tell(flow, signal)
  await flow.started
}

/** Reviews joins once the server can be asked by itself. */
class Joining {
  #admission: MemberAdmission | undefined

  open(admission: MemberAdmission): void {
    this.#admission = admission
  }

  readonly review: Review = ({ object, user, dryRun }, signal) => {
    if (this.#admission === undefined) throw unavailable('the hub is still starting')
    // The registry hands in what the schema of the kind has accepted.
    return this.#admission.review({ object: object as MemberJoin, user, dryRun }, signal)
  }
}
