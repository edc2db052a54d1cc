import { badRequest } from '../../src/kernel/errors.ts'
import type { AccessInfo, ApiRequest, RequireAccess, Stage, UserInfo } from '../contract.ts'
import { extraKeyOf } from './extra-key.ts'
import { serviceAccountGroups, serviceAccountOf, withStandingGroup, withUser } from './user.ts'

type Headers = ApiRequest['headers']
type Resource = Extract<AccessInfo, { isResource: true }>

const everyPrefix = 'impersonate-'
const userHeader = 'impersonate-user'
const groupHeader = 'impersonate-group'
const uidHeader = 'impersonate-uid'
const extraPrefix = 'impersonate-extra-'

/** Each of them is one decision. */
const maxImpersonated = 256

/**
 * Lets a user act as another one (`kubectl --as`), as kube-apiserver does: each part of the other identity needs the verb
 * `impersonate` on users, groups, serviceaccounts, uids or userextras. Stands behind authn; throws 400 for groups, uid or
 * extra without a user, 403 for what is not allowed.
 */
export function impersonationStage(require: RequireAccess): Stage {
  return next => {
    const asAnother = async (other: Impersonated, request: ApiRequest, signal: AbortSignal) => {
      for (const info of accessesFor(other)) await require({ user: request.user, info }, signal)
      return next(withUser(withoutImpersonation(request), withStandingGroup(userOf(other))), signal)
    }
    return (request, signal) => {
      const other = hasImpersonation(request.headers) ? impersonatedBy(request.headers) : undefined
      return other === undefined ? next(request, signal) : asAnother(other, request, signal)
    }
  }
}

type Impersonated = {
  readonly name: string
  readonly groups: readonly string[]
  readonly uid: string
  readonly extra: ReadonlyMap<string, readonly string[]>
}

function hasImpersonation(headers: Headers): boolean {
  for (const header of headers.keys()) if (header.startsWith(everyPrefix)) return true
  return false
}

function impersonatedBy(headers: Headers): Impersonated | undefined {
  const extra = new Map<string, readonly string[]>()
  for (const [header, values] of headers) {
    if (header.startsWith(extraPrefix)) extra.set(extraKeyOf(header.slice(extraPrefix.length)), values)
  }
  const name = headers.get(userHeader)?.[0] ?? ''
  const groups = headers.get(groupHeader) ?? []
  const uid = headers.get(uidHeader)?.[0] ?? ''
  if (name === '' && (groups.length > 0 || uid !== '' || extra.size > 0)) {
    throw badRequest('impersonating a group, a uid or extra needs the header Impersonate-User')
  }
  const parts = groups.length + [...extra.values()].flat().length
  if (parts > maxImpersonated)
    throw badRequest(`at most ${maxImpersonated} groups and extra values can be impersonated`)
  return name === '' ? undefined : { name, groups, uid, extra }
}

function accessesFor(other: Impersonated): readonly Resource[] {
  const account = serviceAccountOf(other.name)
  const authentication = 'authentication.k8s.io'
  return [
    account === undefined
      ? access('', 'users', other.name)
      : { ...access('', 'serviceaccounts', account.name), namespace: account.namespace },
    ...other.groups.map(group => access('', 'groups', group)),
    ...[...other.extra].flatMap(([key, values]) =>
      values.map(value => ({ ...access(authentication, 'userextras', value), subresource: key })),
    ),
    ...(other.uid === '' ? [] : [access(authentication, 'uids', other.uid)]),
  ]
}

function access(group: string, resource: string, name: string): Resource {
  return {
    isResource: true,
    verb: 'impersonate',
    path: '',
    group,
    version: 'v1',
    namespace: '',
    resource,
    subresource: '',
    name,
  }
}

function userOf(other: Impersonated): UserInfo {
  const account = serviceAccountOf(other.name)
  const implied = account !== undefined && other.groups.length === 0
  return {
    name: other.name,
    ...(other.uid === '' ? {} : { uid: other.uid }),
    groups: implied ? serviceAccountGroups(account.namespace) : other.groups,
    extra: Object.fromEntries(other.extra),
  }
}

/** What comes below must not see the headers: it could act on them again. */
function withoutImpersonation(request: ApiRequest): ApiRequest {
  const headers = [...request.headers].filter(([header]) => !header.startsWith(everyPrefix))
  return { ...withUser(request, request.user), headers: new Map(headers) }
}
