import { madeOnce } from '../../src/kernel/made-once.ts'
import type { ApiRequest, UserInfo } from '../contract.ts'

const authenticatedGroup = 'system:authenticated'
const unauthenticatedGroup = 'system:unauthenticated'
const anonymousName = 'system:anonymous'

export const anonymousUser: UserInfo = { name: anonymousName, groups: [unauthenticatedGroup], extra: {} }

/**
 * The user with the group that says whether we know who it is, unless it already carries one. The same for the same, so
 * that what is known of a user can be remembered with it.
 */
export const withStandingGroup: (user: UserInfo) => UserInfo = madeOnce((user: UserInfo) => {
  if (user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)) return user
  const group = user.name === anonymousName ? unauthenticatedGroup : authenticatedGroup
  return { ...user, groups: [...user.groups, group] }
})

/** The same request, sent by somebody else. */
export function withUser(request: ApiRequest, user: UserInfo): ApiRequest {
  return {
    method: request.method,
    path: request.path,
    query: request.query,
    info: request.info,
    headers: request.headers,
    peer: request.peer,
    user,
    notes: request.notes,
    body: request.body,
    warn: request.warn,
  }
}

const serviceAccountPrefix = 'system:serviceaccount:'

/** The parts of a service account's user name, or undefined when the user is none. */
export function serviceAccountOf(
  userName: string,
): { readonly namespace: string; readonly name: string } | undefined {
  if (!userName.startsWith(serviceAccountPrefix)) return undefined
  const [namespace, name, ...more] = userName.slice(serviceAccountPrefix.length).split(':')
  if (namespace === undefined || namespace === '' || name === undefined || name === '' || more.length > 0) {
    return undefined
  }
  return { namespace, name }
}

export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}
