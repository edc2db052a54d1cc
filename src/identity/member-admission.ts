/**
 * The hub's side of joining: who may become a member, and who stays one. A join token lets one key in; a member's
 * certificate has a new key signed for as long as the member is accepted and its certificate is of the present
 * generation.
 */
import { clusterIdProblem, memberNamespace } from '../api/cluster-id.ts'
import { type JoinToken, JoinTokenKind } from '../api/kinds/join-token.ts'
import { type MemberCluster, MemberClusterKind } from '../api/kinds/member-cluster.ts'
import { type MemberJoin, MemberJoinKind } from '../api/kinds/member-join.ts'
import { NamespaceKind } from '../api/kinds/namespace.ts'
import { type Cluster, type Resource, resource } from '../cluster/cluster.ts'
import { type Clock, fromTime, toTime } from '../kernel/clock.ts'
import { conflict, forbidden, invalid, isReason } from '../kernel/errors.ts'
import { invalidValue } from '../kernel/field-error.ts'
import type { Logger } from '../kernel/log.ts'
import { type Identity, signRequest, type VerifiedRequest, verifyRequest } from './certificate.ts'

const membersGroup = 'hub.isthmus.dev:members'
const memberPrefix = 'hub.isthmus.dev:member:'
const generationPrefix = 'hub.isthmus.dev:generation:'
const joinersGroup = 'hub.isthmus.dev:joiners'
const joinerPrefix = 'hub.isthmus.dev:joiner:'

/** On the namespace of a member: whose it is. */
const clusterLabel = 'hub.isthmus.dev/cluster'
/** On a MemberCluster: the token with which it last joined, and the generation that this made. */
const joinedWith = 'hub.isthmus.dev/joined-with'

export type Joiner = { readonly name: string; readonly groups: readonly string[] }

export type AdmissionOptions = {
  /** The hub itself, with the rights of an administrator. */
  readonly hub: Cluster
  readonly authority: () => Identity
  readonly caBundle: () => string
  readonly clock: Clock
  readonly log: Logger
  /** Of members' certificates: 90 days unless told. */
  readonly certificateLifeMs?: number
}

/** Who a token lets in. */
type TokenUser = { readonly clusterID: string; readonly keySHA256: string }

type Answer = NonNullable<MemberJoin['status']>

const members = resource(MemberClusterKind)
const tokens = resource(JoinTokenKind)
const namespaces = resource(NamespaceKind)
const joinRef = { group: MemberJoinKind.group, resource: MemberJoinKind.plural }
const defaultLifeMs = 90 * 86_400_000
const maxAttempts = 5

export class MemberAdmission {
  readonly #options: AdmissionOptions

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /** Answers a MemberJoin: the object with its status. Throws `Forbidden` or `Invalid` with the reason. */
  async review(
    request: { readonly object: MemberJoin; readonly user: Joiner; readonly dryRun: boolean },
    signal: AbortSignal,
  ): Promise<MemberJoin> {
    const { object, user, dryRun } = request
    const { clusterID } = object.spec
    const verified = await verifyRequest(object.spec.request)
    if (verified === undefined) {
      const problem = invalidValue(
        'spec.request',
        '<omitted>',
        'must be a PKCS#10 request in PEM, signed with its own P-256 key',
      )
      throw invalid(MemberJoinKind, '', [problem])
    }
    const member = user.groups.includes(joinersGroup)
      ? await this.#join(
          user.name.slice(joinerPrefix.length),
          { clusterID, keySHA256: verified.keySha256 },
          { dryRun, signal },
        )
      : await this.#renew(user, clusterID, signal)
    const status = await this.#answer(clusterID, member, verified)
    return { ...object, status }
  }

  async #join(
    tokenId: string,
    user: TokenUser,
    { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
  ): Promise<MemberCluster | undefined> {
    const { clusterID } = user
    const problem = clusterIdProblem(clusterID)
    if (problem !== undefined)
      throw invalid(MemberJoinKind, '', [invalidValue('spec.clusterID', clusterID, problem)])
    const token = await this.#options.hub.get(tokens, { name: tokenId }, signal)
    await this.#mayJoin(token, user, signal)
    if (dryRun) return undefined
    if (token.status?.used !== undefined) return this.#again(token, clusterID, signal)
    await this.#claim(token, user, signal)
    await this.#namespace(clusterID, signal)
    const member = await this.#member(clusterID, token, signal)
    this.#options.log.info('member joined', { cluster: clusterID, token: tokenId })
    return member
  }

  async #mayJoin(token: JoinToken, user: TokenUser, signal: AbortSignal): Promise<void> {
    const { clusterID: meant, expirationTime } = token.spec
    const used = token.status?.used
    if (fromTime(expirationTime) <= this.#options.clock.now()) throw refused('the join token has expired')
    if (used !== undefined) {
      if (used.clusterID === user.clusterID && used.keySHA256 === user.keySHA256) return
      throw refused(`the join token was used already, by the cluster "${used.clusterID}"`)
    }
    if (meant === user.clusterID) return
    if (meant !== undefined)
      throw refused(`the join token is for the cluster "${meant}", not "${user.clusterID}"`)
    const known = await this.#find(members, user.clusterID, signal)
    if (known === undefined) return
    throw refused(
      `the cluster id "${user.clusterID}" is taken; if this is the same cluster, create a token for it with --cluster ${user.clusterID}, otherwise choose another id`,
    )
  }

  /**
   * The answer to a join was lost and the same key asks again. That must not bring back what was revoked or removed
   * since.
   */
  async #again(token: JoinToken, clusterID: string, signal: AbortSignal): Promise<MemberCluster> {
    const member = await this.#find(members, clusterID, signal)
    const stands =
      member?.spec.accepted === true &&
      member.metadata.annotations?.[joinedWith] === joinMark(token, member.spec.credentialGeneration)
    if (!stands) throw refused(`the join token was used already, by the cluster "${clusterID}"`)
    return member
  }

  /** Marks the token as used. Exactly one can: the mark is written over the version that was read. */
  async #claim(token: JoinToken, user: TokenUser, signal: AbortSignal): Promise<void> {
    const used = { ...user, time: toTime(this.#options.clock.now()) }
    try {
      await this.#options.hub.replace(
        tokens,
        { ...token, status: { used } },
        { subresource: 'status' },
        signal,
      )
    } catch (thrown) {
      if (!isReason(thrown, 'Conflict', 'NotFound')) throw thrown
      throw refused('the join token was used already, by another request')
    }
  }

  /** The member, known from now on. Certificates from before a new join are no longer good. */
  async #member(clusterID: string, token: JoinToken, signal: AbortSignal): Promise<MemberCluster> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const member = await this.#accepted(clusterID, token, signal)
        if (member.status?.firstAcceptedTime !== undefined) return member
        const firstAcceptedTime = toTime(this.#options.clock.now())
        const status = { ...member.status, namespace: memberNamespace(clusterID), firstAcceptedTime }
        return await this.#options.hub.replace(
          members,
          { ...member, status },
          { subresource: 'status' },
          signal,
        )
      } catch (thrown) {
        if (!isReason(thrown, 'Conflict', 'AlreadyExists') || attempt === maxAttempts) throw thrown
      }
    }
  }

  async #accepted(clusterID: string, token: JoinToken, signal: AbortSignal): Promise<MemberCluster> {
    const { clock, hub } = this.#options
    const known = await this.#find(members, clusterID, signal)
    if (known === undefined) return hub.create(members, newMember(clusterID, token, clock.now()), signal)
    const { annotations } = known.metadata
    const { credentialGeneration: current } = known.spec
    if (annotations?.[joinedWith] === joinMark(token, current)) return known
    const generation = typeof current === 'bigint' ? current + 1n : current + 1
    const next: MemberCluster = {
      ...known,
      metadata: {
        ...known.metadata,
        annotations: { ...annotations, [joinedWith]: joinMark(token, generation) },
      },
      spec: { ...known.spec, accepted: true, credentialGeneration: generation },
    }
    return hub.replace(members, next, {}, signal)
  }

  async #namespace(clusterID: string, signal: AbortSignal): Promise<void> {
    const { hub } = this.#options
    const name = memberNamespace(clusterID)
    const found = await this.#find(namespaces, name, signal)
    if (found === undefined) {
      const metadata = { name, labels: { [clusterLabel]: clusterID } }
      try {
        await hub.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata }, signal)
        return
      } catch (thrown) {
        // Another join was faster, maybe at another hub.
        if (!isReason(thrown, 'AlreadyExists')) throw thrown
        return this.#namespace(clusterID, signal)
      }
    }
    if (found.metadata.labels?.[clusterLabel] !== clusterID) {
      throw conflict(
        joinRef,
        clusterID,
        `the namespace ${name} exists and is not labelled ${clusterLabel}=${clusterID}`,
      )
    }
  }

  async #renew(user: Joiner, clusterID: string, signal: AbortSignal): Promise<MemberCluster> {
    if (user.name !== `${memberPrefix}${clusterID}` || !user.groups.includes(membersGroup)) {
      throw refused(`only a join token or the certificate of "${clusterID}" itself lets it have a key signed`)
    }
    const member = await this.#find(members, clusterID, signal)
    if (member === undefined || !member.spec.accepted)
      throw refused(`the cluster "${clusterID}" is no member`)
    if (!user.groups.includes(`${generationPrefix}${member.spec.credentialGeneration}`)) {
      throw refused(`the certificates of "${clusterID}" were revoked; join again with a new token`)
    }
    return member
  }

  /** Without a member, of a dry run, nothing is signed. */
  async #answer(
    clusterID: string,
    member: MemberCluster | undefined,
    request: VerifiedRequest,
  ): Promise<Answer> {
    const { authority, caBundle, clock, certificateLifeMs = defaultLifeMs } = this.#options
    const namespace = memberNamespace(clusterID)
    if (member === undefined) return { certificate: '', caBundle: caBundle(), namespace }
    const subject = {
      user: `${memberPrefix}${clusterID}`,
      groups: [membersGroup, `${generationPrefix}${member.spec.credentialGeneration}`],
    }
    const certificate = await signRequest(authority(), request, subject, {
      clock,
      lifetimeMs: certificateLifeMs,
    })
    return { certificate, caBundle: caBundle(), namespace }
  }

  async #find<O>(of: Resource<O>, name: string, signal: AbortSignal): Promise<O | undefined> {
    try {
      return await this.#options.hub.get(of, { name }, signal)
    } catch (thrown) {
      if (isReason(thrown, 'NotFound')) return undefined
      throw thrown
    }
  }
}

/** Its generation is the time in seconds: an id that was removed and joins another time goes on from a higher one. */
function newMember(clusterID: string, token: JoinToken, nowMs: number): MemberCluster {
  const generation = Math.floor(nowMs / 1000)
  return {
    apiVersion: members.apiVersion,
    kind: members.kind,
    metadata: { name: clusterID, annotations: { [joinedWith]: joinMark(token, generation) } },
    spec: { accepted: true, credentialGeneration: generation },
  }
}

function joinMark(token: JoinToken, generation: number | bigint): string {
  return `${token.metadata.name}.${generation}`
}

function refused(why: string) {
  return forbidden(joinRef, '', why)
}

/** Removes tokens that nobody can use any more; meant to be run every few minutes. */
export async function removeExpiredTokens(hub: Cluster, clock: Clock, signal: AbortSignal): Promise<void> {
  const { items } = await hub.list(tokens, {}, signal)
  for (const token of items) {
    if (fromTime(token.spec.expirationTime) > clock.now()) continue
    const { name, uid = '', resourceVersion = '' } = token.metadata
    await hub.delete(tokens, { name }, { uid, resourceVersion, signal }).catch(ignoreStale)
  }
}

function ignoreStale(thrown: unknown): void {
  // Somebody else removed or changed it in the meantime; the next round looks again.
  if (!isReason(thrown, 'NotFound', 'Conflict')) throw thrown
}
