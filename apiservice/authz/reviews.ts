/**
 * The answers of `kubectl auth can-i`, `can-i --list` and `whoami`. Behind a kube-apiserver these kinds are its own.
 */
import type { KubeObject, ObjectMeta } from '../../src/api/meta.ts'
import type { PolicyRule } from '../../src/api/rbac/schema.ts'
import { type Clock, toTime } from '../../src/kernel/clock.ts'
import { badRequest } from '../../src/kernel/errors.ts'
import type { AccessInfo, Authorizer, Decision, Review, UserInfo } from '../contract.ts'
import { type HeldRules, inOneText } from './rbac.ts'

export type ReviewOptions = {
  readonly authorizer: Authorizer
  readonly rbac: { rulesFor(user: UserInfo, namespace: string): HeldRules }
  readonly clock: Clock
}

/** The reviews by the names of their resources, `<plural>.<group>`. */
export function accessReviews(options: ReviewOptions): ReadonlyMap<string, Review> {
  return new Map<string, Review>([
    ['selfsubjectaccessreviews.authorization.k8s.io', selfSubjectAccessReview(options)],
    ['subjectaccessreviews.authorization.k8s.io', subjectAccessReview(options)],
    ['selfsubjectrulesreviews.authorization.k8s.io', selfSubjectRulesReview(options)],
    ['selfsubjectreviews.authentication.k8s.io', selfSubjectReview(options)],
  ])
}

type AccessSpec = {
  readonly resourceAttributes?: Partial<
    Record<'namespace' | 'verb' | 'group' | 'version' | 'resource' | 'subresource' | 'name', string>
  >
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
  readonly user?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

function selfSubjectAccessReview({ authorizer }: ReviewOptions): Review {
  return async ({ object, user }, signal) => {
    const info = infoOf(specOf(object))
    return withStatus(object, statusOf(await authorizer.authorize({ user, info }, signal)))
  }
}

function subjectAccessReview({ authorizer }: ReviewOptions): Review {
  return async ({ object }, signal) => {
    const spec = specOf(object)
    const { user: name = '', groups = [], uid, extra = {} } = spec
    const info = infoOf(spec)
    const user = { name, groups, ...(uid === undefined ? {} : { uid }), extra }
    return withStatus(object, statusOf(await authorizer.authorize({ user, info }, signal)))
  }
}

function selfSubjectRulesReview({ rbac }: ReviewOptions): Review {
  return async ({ object, user }) => {
    // The kind's schema gives the field this shape.
    const { namespace = '' } = (object.spec ?? {}) as { readonly namespace?: string }
    if (namespace === '') throw badRequest('no namespace on request')
    const { rules, missing } = rbac.rulesFor(user, namespace)
    return withStatus(emptied(object), {
      resourceRules: rules.filter(rule => rule.resources?.length).map(resourceRule),
      nonResourceRules: rules.filter(rule => rule.nonResourceURLs?.length).map(pathRule),
      incomplete: false,
      ...(missing.length === 0 ? {} : { evaluationError: inOneText(missing) }),
    })
  }
}

function selfSubjectReview({ clock }: ReviewOptions): Review {
  return async ({ object, user }) => {
    const userInfo = {
      username: user.name,
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      groups: user.groups,
      ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
    }
    const empty = emptied(object)
    const metadata = { ...empty.metadata, creationTimestamp: toTime(clock.now()) }
    return withStatus({ ...empty, metadata }, { userInfo })
  }
}

/** Of some reviews kube-apiserver answers a new object, with nothing of the one that was sent. */
function emptied({ apiVersion, kind, spec }: KubeObject): KubeObject {
  // An answer that is not stored needs no name.
  const metadata = {} as ObjectMeta
  return { apiVersion, kind, metadata, ...(spec === undefined ? {} : { spec: {} }) }
}

function specOf(object: KubeObject): AccessSpec {
  // The kinds' schemas give the field this shape.
  return (object.spec ?? {}) as AccessSpec
}

/** What is asked about: a resource or a path, as the kind has made sure. */
function infoOf({ resourceAttributes: resource, nonResourceAttributes: path }: AccessSpec): AccessInfo {
  if (path !== undefined) return { isResource: false, path: '', verb: '', ...path }
  const unsaid = { group: '', version: '', namespace: '', resource: '', subresource: '', name: '', verb: '' }
  return { ...unsaid, ...resource, isResource: true, path: '' }
}

function statusOf({ allowed, reason }: Decision): Readonly<Record<string, unknown>> {
  return {
    allowed: allowed === 'allow',
    ...(allowed === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
  }
}

function withStatus(object: KubeObject, status: Readonly<Record<string, unknown>>): KubeObject {
  return { ...object, status }
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): PolicyRule {
  return {
    verbs,
    ...(apiGroups === undefined ? {} : { apiGroups }),
    ...(resources === undefined ? {} : { resources }),
    ...(resourceNames === undefined ? {} : { resourceNames }),
  }
}

function pathRule({ verbs, nonResourceURLs = [] }: PolicyRule): PolicyRule {
  return { verbs, nonResourceURLs }
}
