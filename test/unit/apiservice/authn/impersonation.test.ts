import { expect, it } from 'vitest'
import { impersonationStage } from '../../../../apiservice/authn/impersonation.ts'
import type { ApiRequest, Attributes } from '../../../../apiservice/contract.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { forbidden } from '../../../../src/kernel/errors.ts'
import { anApiRequest } from '../../../support/api-request.ts'

const ada = { name: 'ada', groups: ['ops'], extra: {} }

/** What was asked for, as `resource/sub namespace/name`, and the request as the stages below see it. */
async function impersonate(headers: Record<string, string | string[]>, refuse = '') {
  const asked: string[] = []
  let seen: ApiRequest | undefined
  const require = async ({ user, info }: Attributes) => {
    if (!info.isResource) throw new Error('only resources are impersonated')
    expect([user, info.verb]).toEqual([ada, 'impersonate'])
    const resource = [info.resource, info.subresource].filter(part => part !== '').join('/')
    const what = `${info.group}:${resource} ${info.namespace}/${info.name}`
    asked.push(what)
    if (what === refuse) throw forbidden(info, info.name, 'refused')
  }
  const handler = impersonationStage(require)(async request => {
    seen = request
    return { type: 'raw', code: 200, headers: {}, body: '' }
  })
  await handler(anApiRequest({ user: ada, headers }), never)
  return { asked, user: seen?.user, headers: [...(seen?.headers.keys() ?? [])] }
}

it('a request that impersonates nobody goes on as it is', async () => {
  expect(await impersonate({ accept: '*/*' })).toEqual({ asked: [], user: ada, headers: ['accept'] })
})

it('a user, groups, uid and extra are each asked for', async () => {
  const headers = {
    'Impersonate-User': 'bob',
    'Impersonate-Group': ['dev', 'a,b'],
    'Impersonate-Uid': 'u-1',
    'Impersonate-Extra-Scopes': ['view', 'edit'],
    'Impersonate-Extra-Example.com%2fTeam': 'x',
    accept: '*/*',
  }
  expect(await impersonate(headers)).toEqual({
    asked: [
      ':users /bob',
      ':groups /dev',
      ':groups /a,b',
      'authentication.k8s.io:userextras/scopes /view',
      'authentication.k8s.io:userextras/scopes /edit',
      'authentication.k8s.io:userextras/example.com/team /x',
      'authentication.k8s.io:uids /u-1',
    ],
    user: {
      name: 'bob',
      uid: 'u-1',
      groups: ['dev', 'a,b', 'system:authenticated'],
      extra: { scopes: ['view', 'edit'], 'example.com/team': ['x'] },
    },
    headers: ['accept'],
  })
})

it('a service account is in its groups', async () => {
  expect(await impersonate({ 'Impersonate-User': 'system:serviceaccount:shop:web' })).toMatchObject({
    asked: [':serviceaccounts shop/web'],
    user: { groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'] },
  })
})

it('a service account is in the named groups only when any are named', async () => {
  const headers = { 'Impersonate-User': 'system:serviceaccount:shop:web', 'Impersonate-Group': 'dev' }
  expect((await impersonate(headers)).user?.groups).toEqual(['dev', 'system:authenticated'])
})

it('what only looks like a service account is a user', async () => {
  expect((await impersonate({ 'Impersonate-User': 'system:serviceaccount:shop' })).asked).toEqual([
    ':users /system:serviceaccount:shop',
  ])
})

it('the anonymous user stays unauthenticated', async () => {
  expect((await impersonate({ 'Impersonate-User': 'system:anonymous' })).user?.groups).toEqual([
    'system:unauthenticated',
  ])
})

it.each([
  { 'Impersonate-Group': 'system:masters' },
  { 'Impersonate-Uid': 'u-1' },
  { 'Impersonate-Extra-Scopes': 'view' },
  { 'Impersonate-User': '', 'Impersonate-Group': 'system:masters' },
])('%j without a user is a bad request', async headers => {
  await expect(impersonate(headers)).rejects.toMatchObject({ code: 400, reason: 'BadRequest' })
})

it('one refused part refuses the request', async () => {
  const headers = { 'Impersonate-User': 'bob', 'Impersonate-Group': ['dev', 'system:masters'] }
  await expect(impersonate(headers, ':groups /system:masters')).rejects.toMatchObject({ code: 403 })
})

it('a flood of groups is a bad request', async () => {
  const headers = { 'Impersonate-User': 'bob', 'Impersonate-Group': Array(257).fill('dev') }
  await expect(impersonate(headers)).rejects.toMatchObject({ code: 400 })
})
