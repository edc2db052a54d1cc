import { expect, it } from 'vitest'
import { reviewedTokens } from '../../../../apiservice/authn/token-review.ts'
import type { Cluster } from '../../../../src/cluster/cluster.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { forbidden, unavailable } from '../../../../src/kernel/errors.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const user = {
  username: 'system:serviceaccount:shop:web',
  uid: 'u-1',
  groups: ['system:serviceaccounts', 'system:authenticated'],
  extra: { 'authentication.kubernetes.io/pod-name': ['web-0'] },
}

/** A kube-apiserver that answers as `status` says, and what it was asked. */
function world(status: (asked: number) => unknown) {
  const clock = manualClock()
  const asked: unknown[] = []
  const cluster: Pick<Cluster, 'create'> = {
    create: async (resource, object) => {
      asked.push([resource.apiVersion, resource.plural, object])
      return { ...object, status: status(asked.length) }
    },
  }
  return { clock, asked, lookup: reviewedTokens({ cluster, clock }) }
}

it('kube-apiserver says whose token it is', async () => {
  const { lookup, asked } = world(() => ({ authenticated: true, user }))
  expect(await lookup('s3cret', never)).toEqual({
    name: 'system:serviceaccount:shop:web',
    uid: 'u-1',
    groups: user.groups,
    extra: user.extra,
  })
  const apiVersion = 'authentication.k8s.io/v1'
  expect(asked).toEqual([
    [
      apiVersion,
      'tokenreviews',
      { apiVersion, kind: 'TokenReview', metadata: {}, spec: { token: 's3cret' } },
    ],
  ])
})

it.each([
  [{ authenticated: false, user, error: 'expired' }],
  [{ user }],
  [{ authenticated: true }],
  [{ authenticated: true, user: { username: '' } }],
  [undefined],
])('a token that it does not vouch for is unknown: %j', async status => {
  expect(await world(() => status).lookup('s3cret', never)).toBeUndefined()
})

it('good and bad answers hold for ten seconds, each for its token', async () => {
  const { asked, clock, lookup } = world(count => (count === 1 ? { authenticated: true, user } : {}))
  expect(await lookup('a', never)).toMatchObject({ uid: 'u-1' })
  expect(await lookup('b', never)).toBeUndefined()
  await clock.advance(9_999)
  expect(await lookup('a', never)).toMatchObject({ uid: 'u-1' })
  expect(await lookup('b', never)).toBeUndefined()
  expect(asked).toHaveLength(2)
  await clock.advance(1)
  expect(await lookup('a', never)).toBeUndefined()
})

it('a kube-apiserver that comes back in time is asked again', async () => {
  const { asked, clock, lookup } = world(count => {
    if (count < 5) throw unavailable('restarting')
    return { authenticated: true, user }
  })
  const found = lookup('a', never)
  await clock.advance(4_100)
  expect(await found).toMatchObject({ uid: 'u-1' })
  expect(asked).toHaveLength(5)
})

it('a kube-apiserver that stays away is no judgement of the token', async () => {
  const { clock, lookup } = world(() => {
    throw unavailable('away')
  })
  const attempt = expect(lookup('a', never)).rejects.toMatchObject({ code: 503 })
  await clock.advance(4_100)
  await attempt
})

it('what it refuses to answer is asked once', async () => {
  const { asked, lookup } = world(() => {
    throw forbidden({ group: 'authentication.k8s.io', resource: 'tokenreviews' }, '', 'no')
  })
  await expect(lookup('a', never)).rejects.toMatchObject({
    code: 500,
    message: 'Internal error occurred: kube-apiserver cannot be asked whose token this is',
  })
  expect(asked).toHaveLength(1)
})
