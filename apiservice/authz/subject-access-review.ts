/** Decisions of the kube-apiserver that a server stands behind (k8s.io/apiserver, the authorizer of its webhook plugin). */
import type { ObjectMeta } from '../../src/api/meta.ts'
import { parseFieldSelector, parseLabelSelector } from '../../src/api/selector.ts'
import type { Cluster, Resource } from '../../src/cluster/cluster.ts'
import { errorText } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { internal, isReason } from '../../src/kernel/errors.ts'
import type { Logger } from '../../src/kernel/log.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
import { withRetries } from '../../src/kernel/retry.ts'
import { SharedAnswers } from '../../src/kernel/shared-answers.ts'
import { andThen } from '../../src/kernel/when-settled.ts'
import type { AccessInfo, Attributes, Authorizer, Decision, UserInfo } from '../contract.ts'

export type AccessReviewOptions = {
  readonly cluster: Pick<Cluster, 'create'>
  readonly clock: Clock
  readonly log: Logger
}

type Requirement = { readonly key: string; readonly operator: string; readonly values?: readonly string[] }

type Selector = { readonly requirements: readonly Requirement[] }

type Spec = {
  readonly user: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
  readonly resourceAttributes?: Readonly<Record<string, string | Selector>>
  readonly nonResourceAttributes?: { readonly path: string; readonly verb: string }
}

type SubjectAccessReview = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Partial<ObjectMeta>
  readonly spec: Spec
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean; readonly reason?: string }
}

const reviews: Resource<SubjectAccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
}

const rememberedMs = 10_000
const timeoutMs = 30_000
const maxEntries = 8192
/** Longer questions are asked each time, or they would fill the memory. */
const maxRememberedLength = 10_000

type Ask = (attributes: Attributes, signal: AbortSignal) => Decision | Promise<Decision>

/**
 * Asks kube-apiserver. When it cannot say the request fails with 500 and is not refused.
 *
 * A request that kube-apiserver has sent on was allowed by its name there. What is asked for it first is whether its user
 * may do the same to all objects (a review without a name): one answer for all of them instead of one for each, which
 * would cost more than the requests. Where that is not allowed, and for whoever comes directly, the name counts.
 */
export function accessReviewAuthorizer(options: AccessReviewOptions): Authorizer {
  const ask = rememberedAnswers(options)
  return {
    authorize(attributes, signal) {
      const { user, info, isSentOn } = attributes
      if (isSentOn !== true || !info.isResource || info.name === '') return ask(attributes, signal)
      const orByName = (ofAll: Decision): Decision | Promise<Decision> =>
        ofAll.allowed === 'allow' ? ofAll : ask(attributes, signal)
      const ofAll = ask({ user, info: { ...info, name: '' } }, signal)
      return andThen(ofAll, orByName)
    },
  }
}

function rememberedAnswers({ cluster, clock, log }: AccessReviewOptions): Ask {
  const answers = new SharedAnswers<Decision>({ clock, ttlMs: rememberedMs, timeoutMs, maxEntries })
  const { apiVersion, kind } = reviews
  const asked = async (attributes: Attributes, question: string, signal: AbortSignal): Promise<Decision> => {
    const review: SubjectAccessReview = { apiVersion, kind, metadata: {}, spec: specOf(attributes) }
    const ask = async (inner: AbortSignal): Promise<Decision> =>
      decisionOf(await withRetries(() => cluster.create(reviews, review, inner), clock, inner))
    try {
      return await (question.length <= maxRememberedLength ? answers.get(question, ask, signal) : ask(signal))
    } catch (thrown) {
      signal.throwIfAborted()
      log.warn('access not decided', { error: errorText(thrown) })
      const why = isReason(thrown, 'Forbidden')
        ? 'this server may not ask kube-apiserver who may do what'
        : 'kube-apiserver cannot be asked whether this is allowed'
      throw internal(why, thrown)
    }
  }
  return (attributes, signal) => {
    const question = questionOf(attributes)
    return answers.known(question) ?? asked(attributes, question, signal)
  }
}

/** The same for the same question. */
function questionOf({ user, info }: Attributes): string {
  return textOf(user) + JSON.stringify(chosen(info))
}

const textOf = madeOnce(({ name, uid, groups, extra }: UserInfo) =>
  JSON.stringify([name, uid, groups, extra]),
)

function decisionOf({ status = {} }: SubjectAccessReview): Decision {
  const { allowed = false, denied = false, reason = '' } = status
  if (denied) return { allowed: 'deny', reason }
  return { allowed: allowed ? 'allow' : 'noOpinion', reason }
}

function specOf({ user, info }: Attributes): Spec {
  return {
    user: user.name,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    groups: user.groups,
    extra: user.extra,
    ...(info.isResource
      ? { resourceAttributes: resourceAttributesOf(info) }
      : { nonResourceAttributes: { path: info.path, verb: info.verb } }),
  }
}

type Resourceful = Extract<AccessInfo, { isResource: true }>

function resourceAttributesOf(info: Resourceful): Readonly<Record<string, string | Selector>> {
  const { namespace, verb, group, version, resource, subresource, name } = info
  const said = { namespace, verb, group, version, resource, subresource, name }
  const labelSelector = selectorOf(() => labelRequirements(info.labelSelector ?? ''))
  const fieldSelector = selectorOf(() => fieldRequirements(info.fieldSelector ?? ''))
  return {
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== '')),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  }
}

/** One that cannot be read limits nothing here; the request itself will be told of it. */
function selectorOf(read: () => readonly Requirement[]): Selector | undefined {
  try {
    const requirements = read()
    return requirements.length === 0 ? undefined : { requirements }
  } catch (thrown) {
    if (isReason(thrown, 'BadRequest')) return undefined
    throw thrown
  }
}

const labelOperators: ReadonlyMap<string, string> = new Map([
  ['in', 'In'],
  ['notIn', 'NotIn'],
  ['exists', 'Exists'],
  ['absent', 'DoesNotExist'],
])

const byText = (a: string, b: string): number => (a < b ? -1 : 1)

/** Comparisons of numbers are left out: a review has no word for them, and without one it asks for more. */
function labelRequirements(text: string): readonly Requirement[] {
  return parseLabelSelector(text).flatMap(({ key, operator, values }) => {
    const word = labelOperators.get(operator)
    if (word === undefined) return []
    return [{ key, operator: word, ...(values.size === 0 ? {} : { values: [...values].toSorted(byText) }) }]
  })
}

function fieldRequirements(text: string): readonly Requirement[] {
  return parseFieldSelector(text).map(({ field, equal, value }) => ({
    key: field,
    operator: equal ? 'In' : 'NotIn',
    values: [value],
  }))
}

/** What a client chooses of a question. */
function chosen(info: AccessInfo): readonly string[] {
  if (!info.isResource) return [info.verb, info.path]
  const { verb, group, version, resource, subresource, namespace, name } = info
  const { labelSelector = '', fieldSelector = '' } = info
  return [verb, group, version, resource, subresource, namespace, name, labelSelector, fieldSelector]
}
