import { hash } from 'node:crypto'
import type { ObjectMeta } from '../../src/api/meta.ts'
import type { Cluster, Resource } from '../../src/cluster/cluster.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { internal, isReason, unavailable } from '../../src/kernel/errors.ts'
import { withRetries } from '../../src/kernel/retry.ts'
import { SharedAnswers } from '../../src/kernel/shared-answers.ts'
import type { UserInfo } from '../contract.ts'
import type { TokenLookup } from './bearer-token.ts'

export type TokenReviewOptions = {
  /** The kube-apiserver that knows the tokens. */
  readonly cluster: Pick<Cluster, 'create'>
  readonly clock: Clock
}

type TokenReview = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Partial<ObjectMeta>
  readonly spec: { readonly token: string }
  readonly status?: {
    readonly authenticated?: boolean
    readonly user?: {
      readonly username?: string
      readonly uid?: string
      readonly groups?: readonly string[]
      readonly extra?: UserInfo['extra']
    }
  }
}

const tokenReviews: Resource<TokenReview> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  namespaced: false,
}

/** As aggregated servers of k8s.io/apiserver keep answers, good ones and bad ones. */
const rememberedMs = 10_000
const timeoutMs = 30_000
const maxEntries = 4096

/** Users by the bearer tokens of the cluster. Throws 503 or 500 when kube-apiserver cannot say. */
export function reviewedTokens({ cluster, clock }: TokenReviewOptions): TokenLookup {
  const answers = new SharedAnswers<{ readonly user: UserInfo | undefined }>({
    clock,
    ttlMs: rememberedMs,
    timeoutMs,
    maxEntries,
  })
  const { apiVersion, kind } = tokenReviews
  return async (token, signal) => {
    const review: TokenReview = { apiVersion, kind, metadata: {}, spec: { token } }
    const ask = async (inner: AbortSignal): Promise<{ readonly user: UserInfo | undefined }> => {
      const answer = await withRetries(() => cluster.create(tokenReviews, review, inner), clock, inner)
      return { user: userOf(answer.status) }
    }
    try {
      // The token itself is not kept.
      const { user } = await answers.get(hash('sha256', token), ask, signal)
      return user
    } catch (thrown) {
      signal.throwIfAborted()
      const why = 'kube-apiserver cannot be asked whose token this is'
      throw isReason(thrown, 'ServiceUnavailable') ? unavailable(why, 1, thrown) : internal(why, thrown)
    }
  }
}

function userOf(status: TokenReview['status']): UserInfo | undefined {
  const { username = '', uid = '', groups = [], extra = {} } = status?.user ?? {}
  if (status?.authenticated !== true || username === '') return undefined
  return { name: username, ...(uid === '' ? {} : { uid }), groups, extra }
}
