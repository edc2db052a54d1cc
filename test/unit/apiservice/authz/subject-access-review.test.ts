import { describe, expect, it } from 'vitest'
import { accessReviewAuthorizer } from '../../../../apiservice/authz/subject-access-review.ts'
import type { AccessInfo, Decision, UserInfo } from '../../../../apiservice/contract.ts'
import type { Cluster } from '../../../../src/cluster/cluster.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { forbidden, unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { aResourceInfo } from '../../../support/api-request.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const ada: UserInfo = { name: 'ada', uid: 'u-1', groups: ['dev'], extra: { scopes: ['view'] } }

/** A kube-apiserver that answers as `status` says, and what it was asked. */
function world(status: (asked: number) => unknown = () => ({ allowed: true })) {
  const clock = manualClock()
  const log = memoryLogger()
  const asked: unknown[] = []
  const cluster: Pick<Cluster, 'create'> = {
    create: async (resource, object) => {
      asked.push(JSON.parse(JSON.stringify(object)))
      expect(resource).toMatchObject({ plural: 'subjectaccessreviews', namespaced: false })
      return { ...object, status: status(asked.length) }
    },
  }
  const authorizer = accessReviewAuthorizer({ cluster, clock, log })
  const decide = async (info: AccessInfo, user = ada): Promise<Decision> =>
    authorizer.authorize({ user, info }, never)
  const decideSentOn = async (info: AccessInfo): Promise<Decision> =>
    authorizer.authorize({ user: ada, info, isSentOn: true }, never)
  return { clock, log, asked, authorizer, decide, decideSentOn }
}

it('everything that is known of a request is asked', async () => {
  const { asked, decide } = world()
  const info = aResourceInfo({
    verb: 'update',
    group: 'multicluster.x-k8s.io',
    version: 'v1beta1',
    namespace: 'shop',
    resource: 'serviceexports',
    subresource: 'status',
    name: 'web',
  })
  expect(await decide(info)).toEqual({ allowed: 'allow', reason: '' })
  const { isResource: _isResource, path: _path, ...resourceAttributes } = info
  expect(asked).toEqual([
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: { user: 'ada', uid: 'u-1', groups: ['dev'], extra: { scopes: ['view'] }, resourceAttributes },
    },
  ])
})

describe('a request that kube-apiserver has sent on', () => {
  const ofName = (name: string): AccessInfo => aResourceInfo({ verb: 'get', namespace: 'shop', name })
  const names = (asked: readonly unknown[]): unknown =>
    asked.map(review => Object(review).spec.resourceAttributes.name)

  it('needs one answer for all names', async () => {
    const { asked, decideSentOn } = world()
    for (const name of ['web', 'db', 'web']) {
      expect(await decideSentOn(ofName(name))).toEqual({ allowed: 'allow', reason: '' })
    }
    expect(names(asked)).toEqual([undefined])
  })

  it('is asked by its name when not all are allowed', async () => {
    const { asked, decideSentOn } = world(count => ({ allowed: count === 2 }))
    expect(await decideSentOn(ofName('web'))).toMatchObject({ allowed: 'allow' })
    expect(await decideSentOn(ofName('db'))).toMatchObject({ allowed: 'noOpinion' })
    expect(names(asked)).toEqual([undefined, 'web', 'db'])
  })

  it('is denied when its name is, where all are', async () => {
    const { decideSentOn } = world(() => ({ denied: true, reason: 'closed' }))
    expect(await decideSentOn(ofName('web'))).toEqual({ allowed: 'deny', reason: 'closed' })
  })

  it('says nothing about one that comes directly', async () => {
    const { asked, decide, decideSentOn } = world(count => ({ allowed: count === 1 }))
    await decideSentOn(ofName('web'))
    expect(await decide(ofName('web'))).toMatchObject({ allowed: 'noOpinion' })
    expect(names(asked)).toEqual([undefined, 'web'])
  })
})

it('a path is asked with its method', async () => {
  const { asked, decide } = world()
  await decide({ isResource: false, verb: 'get', path: '/metrics' }, { name: 'bob', groups: [], extra: {} })
  expect(asked).toMatchObject([
    {
      spec: { user: 'bob', groups: [], extra: {}, nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    },
  ])
})

it('selectors are asked in parts', async () => {
  const { asked, decide } = world()
  const info = aResourceInfo({
    labelSelector: 'app in (b,a),tier!=db,!old,new,n>5',
    fieldSelector: 'metadata.name=web,metadata.namespace!=x\\,y',
  })
  await decide(info)
  expect(asked).toMatchObject([
    {
      spec: {
        resourceAttributes: {
          labelSelector: {
            requirements: [
              { key: 'app', operator: 'In', values: ['a', 'b'] },
              { key: 'tier', operator: 'NotIn', values: ['db'] },
              { key: 'old', operator: 'DoesNotExist' },
              { key: 'new', operator: 'Exists' },
            ],
          },
          fieldSelector: {
            requirements: [
              { key: 'metadata.name', operator: 'In', values: ['web'] },
              { key: 'metadata.namespace', operator: 'NotIn', values: ['x,y'] },
            ],
          },
        },
      },
    },
  ])
})

it('a selector that cannot be read asks for everything', async () => {
  const { asked, decide } = world()
  await decide(aResourceInfo({ labelSelector: 'a in', fieldSelector: 'x' }))
  const [review] = asked as { spec: { resourceAttributes: object } }[]
  expect(Object.keys(review?.spec.resourceAttributes ?? {})).not.toContain('labelSelector')
  expect(Object.keys(review?.spec.resourceAttributes ?? {})).not.toContain('fieldSelector')
})

it.each([
  [
    { allowed: true, reason: 'RBAC' },
    { allowed: 'allow', reason: 'RBAC' },
  ],
  [
    { allowed: false, reason: 'no' },
    { allowed: 'noOpinion', reason: 'no' },
  ],
  [
    { allowed: false, denied: true },
    { allowed: 'deny', reason: '' },
  ],
  [
    { allowed: true, denied: true },
    { allowed: 'deny', reason: '' },
  ],
  [{}, { allowed: 'noOpinion', reason: '' }],
  [undefined, { allowed: 'noOpinion', reason: '' }],
])('the answer %j is the decision %j', async (status, decision) => {
  expect(await world(() => status).decide(aResourceInfo())).toEqual(decision)
})

it('decisions hold for ten seconds, each for its question', async () => {
  const { asked, clock, decide } = world(count => ({ allowed: count === 1 }))
  expect((await decide(aResourceInfo())).allowed).toBe('allow')
  expect((await decide(aResourceInfo({ verb: 'watch' }))).allowed).toBe('noOpinion')
  expect((await decide(aResourceInfo(), { ...ada, groups: [] })).allowed).toBe('noOpinion')
  expect((await decide(aResourceInfo({ labelSelector: 'a=b' }))).allowed).toBe('noOpinion')
  await clock.advance(9_999)
  expect((await decide(aResourceInfo())).allowed).toBe('allow')
  expect(asked).toHaveLength(4)
  await clock.advance(1)
  expect((await decide(aResourceInfo())).allowed).toBe('noOpinion')
})

it('the same question at the same time is asked once', async () => {
  const { asked, decide } = world()
  await Promise.all(Array.from({ length: 20 }, () => decide(aResourceInfo())))
  expect(asked).toHaveLength(1)
})

it.each([
  ['name', { name: 'x'.repeat(10_000) }],
  ['selector', { labelSelector: `a in (${'x'.repeat(60)}${',y'.repeat(5_000)})` }],
])('a question with a very long %s is asked each time', async (_what, part) => {
  const { asked, decide } = world()
  await decide(aResourceInfo(part))
  await decide(aResourceInfo(part))
  expect(asked).toHaveLength(2)
})

it('a kube-apiserver that stays away is no refusal, and no permission', async () => {
  const { asked, clock, decide, log } = world(() => {
    throw unavailable('connect ECONNREFUSED 10.0.0.1:6443')
  })
  const attempt = expect(decide(aResourceInfo())).rejects.toMatchObject({
    code: 500,
    message: 'Internal error occurred: kube-apiserver cannot be asked whether this is allowed',
  })
  await clock.advance(4_100)
  await attempt
  expect(asked).toHaveLength(5)
  expect(log.lines).toMatchObject([{ level: 'warn', message: 'access not decided' }])
})

it('a failure is not remembered', async () => {
  const { clock, decide } = world(count => {
    if (count <= 5) throw unavailable('restarting')
    return { allowed: true }
  })
  const attempt = expect(decide(aResourceInfo())).rejects.toMatchObject({ code: 500 })
  await clock.advance(4_100)
  await attempt
  expect((await decide(aResourceInfo())).allowed).toBe('allow')
})

it('a server that may not ask says so', async () => {
  const { decide } = world(() => {
    throw forbidden({ group: 'authorization.k8s.io', resource: 'subjectaccessreviews' }, '', 'no')
  })
  await expect(decide(aResourceInfo())).rejects.toMatchObject({
    code: 500,
    message: 'Internal error occurred: this server may not ask kube-apiserver who may do what',
  })
})

it('what is remembered is answered at once, for this very question', async () => {
  const { asked, authorizer, decide } = world()
  const info = aResourceInfo({ verb: 'list', namespace: 'shop', labelSelector: 'a=b' })
  await decide(info)
  expect(authorizer.authorize({ user: { ...ada }, info }, never)).toEqual({ allowed: 'allow', reason: '' })
  expect(asked).toHaveLength(1)
  const others: readonly AccessInfo[] = [
    { ...info, labelSelector: 'a=c' },
    { ...info, fieldSelector: 'metadata.name=a' },
    { ...info, namespace: 'shop\nlist' },
    { isResource: false, verb: 'list', path: 'shop' },
  ]
  for (const other of others) await decide(other)
  await decide(info, { ...ada, groups: ['ops'] })
  expect(asked).toHaveLength(6)
})
