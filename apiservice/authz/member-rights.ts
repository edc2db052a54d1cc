/**
 * What a member of the ClusterSet may do at its hub: the counterpart of the Node authorizer of Kubernetes. Members are
 * told by their certificates and asked about again at every request, so an evicted one is out at once.
 */
import { refusalText } from '../../src/api/membership-refusal.ts'
import type { AccessInfo, Attributes, Authorizer, Decision, UserInfo } from '../contract.ts'

export type Membership = {
  readonly accepted: boolean
  /** A certificate counts only while it carries this number; joining anew raises it. */
  readonly generation: number | bigint
  /** The one namespace in which the member writes. */
  readonly namespace: string
}

export type MemberAuthorizerOptions = {
  /** Undefined when there is no such member. Asked at every request of a member: cheap and current. */
  readonly memberOf: (id: string) => Promise<Membership | undefined>
  /** Calls back when answers of `memberOf` may have changed. */
  readonly onChange: (listener: () => void) => () => void
}

type Resource = Extract<AccessInfo, { isResource: true }>
type Grant = {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
}

const hubGroup = 'hub.isthmus.dev'
const memberPrefix = `${hubGroup}:member:`
const generationPrefix = `${hubGroup}:generation:`
const membersGroup = `${hubGroup}:members`
const joinersGroup = `${hubGroup}:joiners`

const everyVerb = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']
const readVerbs = ['get', 'list', 'watch']

/** In the member's own namespace. */
const namespaced: readonly Grant[] = [
  { group: hubGroup, resource: 'exportedservices', verbs: everyVerb },
  { group: hubGroup, resource: 'exportedservices/status', verbs: ['get'] },
  { group: hubGroup, resource: 'exportedendpointslices', verbs: everyVerb },
  { group: hubGroup, resource: 'importedservices', verbs: everyVerb },
  { group: hubGroup, resource: 'importables', verbs: readVerbs },
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['get', 'create', 'update'] },
  { group: '', resource: 'events', verbs: ['create'] },
  { group: 'events.k8s.io', resource: 'events', verbs: ['create'] },
]
/** The member's own record. */
const own: readonly Grant[] = [
  { group: hubGroup, resource: 'memberclusters', verbs: ['get', 'delete'] },
  { group: hubGroup, resource: 'memberclusters/status', verbs: ['get'] },
]
/** Asking for a certificate. */
const joining: readonly Grant[] = [{ group: hubGroup, resource: 'memberjoins', verbs: ['create'] }]

const selfReviews: readonly Grant[] = [
  { group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews', verbs: ['create'] },
  { group: 'authorization.k8s.io', resource: 'selfsubjectrulesreviews', verbs: ['create'] },
  { group: 'authentication.k8s.io', resource: 'selfsubjectreviews', verbs: ['create'] },
]

const noOpinion: Decision = { allowed: 'noOpinion', reason: '' }

/**
 * Allows members and joiners what they need and denies them everything else, whatever RBAC says; about other users, and
 * about paths that are no resources, it has no opinion.
 */
export function memberAuthorizer({ memberOf, onChange }: MemberAuthorizerOptions): Authorizer {
  return {
    authorize({ user, info }: Attributes): Decision | Promise<Decision> {
      if (user.groups.includes(membersGroup)) return decideMember(user, info, memberOf)
      if (user.groups.includes(joinersGroup)) return decide(info, granted(joining, info))
      return noOpinion
    },
    onChange,
  }
}

async function decideMember(
  user: UserInfo,
  info: AccessInfo,
  memberOf: MemberAuthorizerOptions['memberOf'],
): Promise<Decision> {
  const id = user.name.startsWith(memberPrefix) ? user.name.slice(memberPrefix.length) : ''
  const member = id === '' ? undefined : await memberOf(id)
  if (member === undefined) return deny(refusalText('not joined', id))
  if (!member.accepted) return deny(refusalText('not accepted', id))
  if (!user.groups.includes(`${generationPrefix}${member.generation}`)) {
    return deny(refusalText('renewed', id))
  }
  return decide(info, mayDo(info, id, member))
}

function mayDo(info: AccessInfo, id: string, member: Membership): boolean {
  if (!info.isResource) return false
  if (granted(joining, info)) return true
  if (granted(own, info)) return info.name === id
  return info.namespace !== '' && info.namespace === member.namespace && granted(namespaced, info)
}

function granted(grants: readonly Grant[], info: AccessInfo): boolean {
  return info.isResource && grants.some(grant => covers(grant, info))
}

function covers(grant: Grant, info: Resource): boolean {
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  return grant.group === info.group && grant.resource === resource && grant.verbs.includes(info.verb)
}

/** Discovery and questions about oneself are left to the policy for all users. */
function decide(info: AccessInfo, allowed: boolean): Decision {
  if (allowed) return { allowed: 'allow', reason: '' }
  return !info.isResource || granted(selfReviews, info) ? noOpinion : deny('not granted to clusters')
}

function deny(reason: string): Decision {
  return { allowed: 'deny', reason }
}
