// k8s.io/apiserver `requestheader`: whom a front proxy may speak for.
import { describe, expect, it } from 'vitest'
import { clientCertAuthenticator } from '../../../../apiservice/authn/client-cert.ts'
import { type FrontProxySettings, frontProxyAuthenticator } from '../../../../apiservice/authn/front-proxy.ts'
import { authnStage } from '../../../../apiservice/authn/stage.ts'
import type { ApiRequest, UserInfo } from '../../../../apiservice/contract.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { type ApiRequestOptions, anApiRequest } from '../../../support/api-request.ts'
import {
  aCertificate,
  aCertificateAuthority,
  aClientCertificate,
  type Issued,
} from '../../../support/certificates.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const noon = Date.parse('2026-06-15T12:00:00Z')
const proxies = await aCertificateAuthority('front proxies')
const users = await aCertificateAuthority('users')
const proxy = await aClientCertificate(proxies, 'front-proxy-client')
const settings: FrontProxySettings = {
  caBundle: proxies.pem,
  allowedNames: ['front-proxy-client'],
  usernameHeaders: ['x-remote-user'],
  uidHeaders: ['x-remote-uid'],
  groupHeaders: ['x-remote-group'],
  extraHeaderPrefixes: ['x-remote-extra-'],
}
type Headers = NonNullable<ApiRequestOptions['headers']>

/** A server with both ways to be known by a certificate, as it stands behind a kube-apiserver. */
function server(current: () => FrontProxySettings = () => settings) {
  const clock = manualClock(noon)
  const log = memoryLogger()
  const frontProxy = frontProxyAuthenticator({ settings: current, clock, log })
  const clientCert = clientCertAuthenticator({ caBundle: () => users.pem, clock, log })
  let seen: ApiRequest | undefined
  const stage = authnStage([frontProxy, clientCert], { anonymous: true, log, metrics: noMetrics })
  const handler = stage(async request => {
    seen = request
    return { type: 'raw', code: 200, headers: {}, body: '' }
  })
  const send = async (sent: readonly Issued[], headers: Headers): Promise<ApiRequest> => {
    seen = undefined
    const peer = { address: '127.0.0.1', certificates: sent.map(each => each.der) }
    await handler(anApiRequest({ peer, headers }), never)
    if (seen === undefined) throw new Error('nothing was handed on')
    return seen
  }
  return {
    clock,
    send,
    user: async (sent: readonly Issued[], headers: Headers): Promise<UserInfo> =>
      (await send(sent, headers)).user,
  }
}

describe('a front proxy', () => {
  it('says who asks, each line of a header for itself', async () => {
    const headers = {
      'X-Remote-User': 'ada',
      'X-Remote-Uid': 'u-1',
      'X-Remote-Group': ['ops', 'a,b', 'system:authenticated'],
      'X-Remote-Extra-Scopes': ['view', 'edit'],
      'X-Remote-Extra-Authentication.kubernetes.io%2fPod-Name': 'web-%30',
      'X-Remote-Extra-%41cme': 'x',
      'X-Remote-Extra-Odd%zz': 'y',
    }
    expect(await server().user([proxy], headers)).toEqual({
      name: 'ada',
      uid: 'u-1',
      groups: ['ops', 'a,b', 'system:authenticated'],
      extra: {
        scopes: ['view', 'edit'],
        'authentication.kubernetes.io/pod-name': ['web-%30'],
        Acme: ['x'],
        'odd%zz': ['y'],
      },
      isSentOn: true,
    })
  })

  it('may say that the user is not known', async () => {
    const headers = { 'X-Remote-User': 'system:anonymous', 'X-Remote-Group': 'system:unauthenticated' }
    expect(await server().user([proxy], headers)).toEqual({
      name: 'system:anonymous',
      groups: ['system:unauthenticated'],
      extra: {},
      isSentOn: true,
    })
  })

  it('is not the user itself when it names none', async () => {
    await expect(server().user([proxy], {})).rejects.toMatchObject({ code: 401 })
  })

  it('may have any name when none is demanded', async () => {
    const other = await aClientCertificate(proxies, 'another proxy')
    const any = server(() => ({ ...settings, allowedNames: [] }))
    expect(await any.user([other], { 'X-Remote-User': 'ada' })).toMatchObject({ name: 'ada' })
  })
})

describe('headers of a front proxy', () => {
  const injected = { 'X-Remote-User': 'root', 'X-Remote-Group': 'system:masters' }

  it('without a certificate do not count', async () => {
    expect(await server().user([], injected)).toMatchObject({
      name: 'system:anonymous',
      groups: ['system:unauthenticated'],
    })
  })

  it("with a user's certificate do not count, whatever its name", async () => {
    const impostor = await aClientCertificate(users, 'front-proxy-client', ['dev'])
    expect(await server().user([impostor], injected)).toMatchObject({
      name: 'front-proxy-client',
      groups: ['dev', 'system:authenticated'],
    })
  })

  it.each([
    ['of another name', () => aClientCertificate(proxies, 'somebody else')],
    ['that has expired', () => aClientCertificate(proxies, 'front-proxy-client', [], past)],
    ['for servers', () => aClientCertificate(proxies, 'front-proxy-client', [], { usages: [serverAuth] })],
    [
      'that only claims its authority',
      () => aClientCertificate(proxies, 'front-proxy-client', [], { signedBy: users.keys }),
    ],
    ['of nobody', () => aCertificate({ subject: [{ CN: ['front-proxy-client'] }], usages: [clientAuth] })],
  ])('with a certificate %s are refused', async (_what, make) => {
    await expect(server().user([await make()], injected)).rejects.toMatchObject({ code: 401 })
  })

  it('do not count before anybody has said whom to believe', async () => {
    const none = server(() => ({ ...settings, caBundle: '' }))
    await expect(none.user([proxy], injected)).rejects.toMatchObject({ code: 401 })
    expect(await none.user([], injected)).toMatchObject({ name: 'system:anonymous' })
  })

  it('are not seen below, nor those that others use', async () => {
    const custom = server(() => ({
      ...settings,
      usernameHeaders: ['x-mine'],
      extraHeaderPrefixes: ['x-more-'],
    }))
    const headers = { ...injected, 'X-Mine': 'ada', 'X-More-Team': 'a', Accept: '*/*' }
    const seen = await custom.send([proxy], headers)
    expect(seen.user).toMatchObject({ name: 'ada', extra: { team: ['a'] } })
    expect([...seen.headers.keys()]).toEqual(['accept'])
  })
})

it('the authority of front proxies can be replaced at any time', async () => {
  const next = await aCertificateAuthority('next front proxies')
  const renewed = await aClientCertificate(next, 'front-proxy-client')
  let current = settings
  const { user } = server(() => current)
  const headers = { 'X-Remote-User': 'ada' }
  await expect(user([renewed], headers)).rejects.toMatchObject({ code: 401 })
  expect(await user([proxy], headers)).toMatchObject({ name: 'ada' })
  current = { ...settings, caBundle: `${proxies.pem}\n${next.pem}` }
  expect(await user([renewed], headers)).toMatchObject({ name: 'ada' })
  expect(await user([proxy], headers)).toMatchObject({ name: 'ada' })
  current = { ...settings, caBundle: next.pem }
  await expect(user([proxy], headers)).rejects.toMatchObject({ code: 401 })
})

const clientAuth = '1.3.6.1.5.5.7.3.2'
const serverAuth = '1.3.6.1.5.5.7.3.1'
const past = { notAfter: '2026-03-01T00:00:00Z' }

it('whoever is sent again is the very same user, until other headers count', async () => {
  let current = settings
  const { user } = server(() => current)
  const headers = { 'x-remote-user': ['ada'], 'x-remote-group': ['dev'], 'x-remote-extra-scopes': ['view'] }
  const first = await user([proxy], headers)
  expect(first).toMatchObject({
    name: 'ada',
    groups: ['dev', 'system:authenticated'],
    extra: { scopes: ['view'] },
  })
  expect(await user([proxy], { ...headers, accept: ['*/*'] })).toBe(first)
  for (const other of [
    { ...headers, 'x-remote-user': ['bob'] },
    { ...headers, 'x-remote-group': ['dev', 'ops'] },
    { ...headers, 'x-remote-uid': ['u-1'] },
    { ...headers, 'x-remote-extra-scopes': ['edit'] },
    { ...headers, 'x-remote-group': ['d', 'ev'] },
    { ...headers, 'x-remote-group': ['dev x-remote-uid 1 1 1'] },
  ]) {
    expect(await user([proxy], other)).not.toEqual(first)
  }
  for (let n = 0; n < 300; n++) await user([proxy], { 'x-remote-user': [`user-${n}`], [`x-${n}`]: ['1'] })
  expect(await user([proxy], headers)).toEqual(first)
  current = { ...settings, groupHeaders: ['x-team'] }
  expect((await user([proxy], { ...headers, 'x-team': ['ops'] })).groups).toEqual([
    'ops',
    'system:authenticated',
  ])
})
