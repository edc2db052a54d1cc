import { expect, it } from 'vitest'
import { authorizersInTurn } from '../../../../apiservice/authz/chain-of-authorizers.ts'
import { requireAccess } from '../../../../apiservice/authz/forbidden-answer.ts'
import { healthAuthorizer } from '../../../../apiservice/authz/health-paths.ts'
import { mastersAuthorizer } from '../../../../apiservice/authz/masters.ts'
import { authzStage } from '../../../../apiservice/authz/stage.ts'
import type { Authorizer, Decision, Reply, RequestInfo, UserInfo } from '../../../../apiservice/contract.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { type Status, StatusError } from '../../../../src/kernel/errors.ts'
import { anApiRequest, aResourceInfo } from '../../../support/api-request.ts'

const ada: UserInfo = { name: 'ada', groups: ['system:authenticated'], extra: {} }
const answer = (allowed: Decision['allowed'], reason = ''): Authorizer => ({
  authorize: () => Promise.resolve({ allowed, reason }),
})
const done: Reply = { type: 'raw', code: 200, headers: {}, body: 'done' }

async function ask(authorizer: Authorizer, info: RequestInfo, user = ada): Promise<Reply | Status> {
  const handler = authzStage(authorizer)(() => Promise.resolve(done))
  try {
    return await handler(anApiRequest({ user, info, path: info.path }), never)
  } catch (thrown) {
    if (thrown instanceof StatusError) return thrown.toStatus()
    throw thrown
  }
}

it('what is allowed goes on', async () => {
  expect(await ask(answer('allow'), aResourceInfo())).toBe(done)
})

it.each<[RequestInfo, string, object]>([
  [
    aResourceInfo(),
    'pods is forbidden: User "ada" cannot list resource "pods" in API group "" in the namespace "default"',
    { kind: 'pods' },
  ],
  [
    aResourceInfo({
      verb: 'update',
      group: 'multicluster.x-k8s.io',
      resource: 'serviceexports',
      subresource: 'status',
      name: 'web',
    }),
    'serviceexports.multicluster.x-k8s.io "web" is forbidden: User "ada" cannot update resource "serviceexports/status" in API group "multicluster.x-k8s.io" in the namespace "default"',
    { name: 'web', group: 'multicluster.x-k8s.io', kind: 'serviceexports' },
  ],
  [
    aResourceInfo({ verb: 'create', resource: 'namespaces', namespace: '' }),
    'namespaces is forbidden: User "ada" cannot create resource "namespaces" in API group "" at the cluster scope',
    { kind: 'namespaces' },
  ],
  [
    { isResource: false, verb: 'get', path: '/metrics' },
    'forbidden: User "ada" cannot get path "/metrics"',
    {},
  ],
  [
    { isResource: false, verb: 'get', path: '/<b>&' },
    'forbidden: User "ada" cannot get path "/&lt;b&gt;&amp;"',
    {},
  ],
])('%j is refused as kube-apiserver does', async (info, message, details) => {
  expect(await ask(answer('noOpinion'), info)).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'Forbidden',
    details,
    code: 403,
  })
})

it('the reason is added', async () => {
  expect(await ask(answer('deny', 'RBAC: gone'), aResourceInfo())).toMatchObject({
    message: expect.stringMatching(/in the namespace "default": RBAC: gone$/),
  })
})

it('authorizers are asked in turn until one decides', async () => {
  const chain = (...decisions: readonly Authorizer[]) => ask(authorizersInTurn(decisions), aResourceInfo())
  expect(await chain(answer('noOpinion'), answer('allow'), answer('deny'))).toBe(done)
  expect(await chain(answer('deny'), answer('allow'))).toMatchObject({ code: 403 })
  expect(
    await chain(answer('noOpinion', 'one'), answer('noOpinion'), answer('noOpinion', 'two')),
  ).toMatchObject({
    message: expect.stringMatching(/: one\ntwo$/),
  })
  expect(await chain()).toMatchObject({ code: 403 })
})

it('masters may do everything', async () => {
  expect(await ask(mastersAuthorizer, aResourceInfo(), { ...ada, groups: ['system:masters'] })).toBe(done)
  expect(await ask(mastersAuthorizer, aResourceInfo(), { ...ada, groups: ['system:master'] })).toMatchObject({
    code: 403,
  })
})

it('health may be asked for by anybody, and nothing below it', async () => {
  const allowed = async (path: string) =>
    (await ask(healthAuthorizer, { isResource: false, verb: 'get', path })) === done
  expect(await Promise.all(['/healthz', '/livez', '/readyz'].map(allowed))).toEqual([true, true, true])
  expect(await Promise.all(['/livez/ping', '/livez/', '/metrics', '/'].map(allowed))).toEqual(
    Array(4).fill(false),
  )
  expect(await ask(healthAuthorizer, aResourceInfo({ path: '/livez' }))).toMatchObject({ code: 403 })
})

it('a later stage may ask for more', async () => {
  const attributes = { user: ada, info: aResourceInfo({ verb: 'create' }) }
  await expect(requireAccess(answer('noOpinion'))(attributes, never)).rejects.toMatchObject({ code: 403 })
  await expect(requireAccess(answer('allow'))(attributes, never)).resolves.toBeUndefined()
})

it('a request that was allowed in front is told apart from one that comes directly', async () => {
  const seen: unknown[] = []
  const authorizer: Authorizer = {
    authorize: ({ isSentOn }) => {
      seen.push(isSentOn)
      return Promise.resolve({ allowed: 'allow', reason: '' })
    },
  }
  await ask(authorizer, aResourceInfo(), { ...ada, isSentOn: true })
  await ask(authorizer, aResourceInfo())
  expect(seen).toEqual([true, undefined])
})
