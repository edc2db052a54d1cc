// Header lines that say who somebody is, from clients that are somebody else: a front proxy is believed by its certificate
// and by nothing else, and only who may impersonate does.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearerAuthenticator } from '../../apiservice/authn/bearer-token.ts'
import { clientCertAuthenticator } from '../../apiservice/authn/client-cert.ts'
import { frontProxyAuthenticator } from '../../apiservice/authn/front-proxy.ts'
import { Guesses } from '../../apiservice/authn/guesses.ts'
import type { Authorizer } from '../../apiservice/contract.ts'
import { type Identity, issueClient, makeAuthority } from '../../src/identity/certificate.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { type TestServer, testServer } from '../support/api-server.ts'
import { codesOf, exchange } from '../support/raw-http.ts'

/** As everywhere: who is known may ask who he is. */
const whoKnowsHimself: Authorizer = {
  authorize: async ({ user, info }) => {
    const asks = info.isResource && info.resource === 'selfsubjectreviews'
    return {
      allowed: asks && user.groups.includes('system:authenticated') ? 'allow' : 'noOpinion',
      reason: '',
    }
  },
}
const lifetime = { clock: systemClock, lifetimeMs: 3_600_000 }
const proxies = await makeAuthority('proxies', lifetime)
const users = await makeAuthority('users', lifetime)
const context = { clock: systemClock, log: silentLogger, metrics: noMetrics }
let server: TestServer
let mallory: Identity
let proxy: Identity

beforeAll(async () => {
  const settings = {
    caBundle: proxies.certificate,
    allowedNames: ['front-proxy-client'],
    usernameHeaders: ['x-remote-user'],
    uidHeaders: ['x-remote-uid'],
    groupHeaders: ['x-remote-group'],
    extraHeaderPrefixes: ['x-remote-extra-'],
  }
  server = await testServer({
    authorizers: [whoKnowsHimself],
    authenticators: [
      frontProxyAuthenticator({ ...context, settings: () => settings }),
      clientCertAuthenticator({ ...context, caBundle: () => users.certificate }),
      bearerAuthenticator([], new Guesses(context)),
    ],
  })
  // With the name of the front proxy, of another authority.
  mallory = await issueClient(users, { user: 'front-proxy-client', groups: ['dev'] }, lifetime)
  proxy = await issueClient(proxies, { user: 'front-proxy-client', groups: [] }, lifetime)
})
afterAll(() => server.close())

const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })

/** Asks the server who it thinks one is, with these header lines as they are. */
async function whoAmI(
  lines: readonly string[],
  identity?: Identity,
): Promise<{ readonly codes: readonly number[]; readonly text: string }> {
  const sent = [
    'POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1',
    'host: x',
    'content-type: application/json',
    `content-length: ${review.length}`,
    'connection: close',
    ...lines,
    '',
    review,
  ].join('\r\n')
  const text = await exchange(server.port, sent, { identity })
  return { codes: codesOf(text), text }
}

const injected: readonly (readonly [string, readonly string[]])[] = [
  ['as they are', ['X-Remote-User: root', 'X-Remote-Group: system:masters']],
  ['in lower case', ['x-remote-user: root', 'x-remote-group: system:masters']],
  ['in upper case', ['X-REMOTE-USER: root', 'X-REMOTE-GROUP: system:masters']],
  ['with underscores', ['X_Remote_User: root', 'X_Remote_Group: system:masters']],
  ['with a dot', ['X.Remote.User: root', 'X.Remote.Group: system:masters']],
  ['as CGI names', ['HTTP_X_REMOTE_USER: root', 'REMOTE_USER: root', 'Remote-User: root']],
  ['twice', ['X-Remote-User: ada', 'X-Remote-User: root', 'X-Remote-Group: system:masters']],
  ['after an empty one', ['X-Remote-User:', 'X-Remote-User: root', 'X-Remote-Group: system:masters']],
  ['with commas', ['X-Remote-User: ada, root', 'X-Remote-Group: dev,system:masters']],
  ['without a space', ['X-Remote-User:root', 'X-Remote-Group:system:masters']],
  ['with a tab', ['X-Remote-User:\troot', 'X-Remote-Group:\tsystem:masters']],
  ['with a space before the colon', ['X-Remote-User : root', 'X-Remote-Group : system:masters']],
  ['on a folded line', ['X-Other: a', ' X-Remote-User: root', '\tX-Remote-Group: system:masters']],
  ['behind a bare LF', ['X-Other: a\nX-Remote-User: root\nX-Remote-Group: system:masters']],
  ['behind a bare CR', ['X-Other: a\rX-Remote-User: root']],
  ['behind a NUL', ['X-Other: a\u0000X-Remote-User: root']],
  ['with a NUL in the name', ['X-Remote\u0000-User: root']],
  [
    'named by Connection',
    ['Connection: X-Remote-User, close', 'X-Remote-User: root', 'X-Remote-Group: system:masters'],
  ],
  [
    'as extras',
    [
      'X-Remote-User: root',
      'X-Remote-Extra-Scopes: all',
      'X-Remote-Uid: 0',
      'X-Remote-Group: system:masters',
    ],
  ],
  [
    'as others call them',
    [
      'X-Forwarded-User: root',
      'X-Forwarded-Groups: system:masters',
      'X-Auth-Request-User: root',
      'X-WebAuth-User: root',
    ],
  ],
  [
    'as certificates',
    [
      'X-Forwarded-Client-Cert: Subject="CN=root,O=system:masters"',
      'X-SSL-Client-S-DN: CN=root',
      'SSL_CLIENT_S_DN: CN=root',
      'X-Client-Verify: SUCCESS',
    ],
  ],
  ['with names in Unicode', ['X\u00adRemote-User: root', 'X-Rem\u00d8te-User: root']],
]

describe('a client with a certificate of its own', () => {
  it.each(injected)('is who it is with headers %s', async (_, lines) => {
    const { codes, text } = await whoAmI(lines, mallory)
    expect(codes).toHaveLength(1)
    expect(text).not.toMatch(/root|system:masters/)
    if (codes[0] !== 400) {
      expect(codes).toEqual([201])
      expect(text).toContain('"username":"front-proxy-client"')
      expect(text).toContain('"groups":["dev","system:authenticated"]')
    }
  })

  it.each([
    ['a user', ['Impersonate-User: root']],
    ['a group', ['Impersonate-User: ada', 'Impersonate-Group: system:masters']],
    ['a group without a user', ['Impersonate-Group: system:masters']],
    ['a uid', ['Impersonate-User: ada', 'Impersonate-Uid: 0']],
    ['an extra', ['Impersonate-User: ada', 'Impersonate-Extra-Scopes: all']],
    ['a user, itself first', ['Impersonate-User: front-proxy-client', 'Impersonate-User: root']],
    ['a user, in lower case', ['impersonate-user: root']],
    [
      'its own name with another group',
      ['Impersonate-User: front-proxy-client', 'Impersonate-Group: system:masters'],
    ],
  ])('may not act as %s', async (_, lines) => {
    const { codes, text } = await whoAmI(lines, mallory)
    expect(codes).toHaveLength(1)
    expect([400, 403]).toContain(codes[0])
    expect(text).not.toContain('userInfo')
  })

  it.each(['impersonate_user: root', 'Impersonate.User: root', 'X-Impersonate-User: root'])(
    'acts as nobody by %s',
    async line => {
      const { text } = await whoAmI([line], mallory)
      expect(text).toContain('"username":"front-proxy-client"')
    },
  )
})

describe('a client without a certificate', () => {
  it.each(injected)('is nobody with headers %s', async (_, lines) => {
    const { codes, text } = await whoAmI(lines)
    expect(codes).toHaveLength(1)
    expect([400, 403]).toContain(codes[0])
    expect(text).not.toContain('userInfo')
  })

  it.each([
    ['Basic', 'Authorization: Basic cm9vdDpyb290', 403],
    ['a token of another form', 'Authorization: Bearer ../../admin', 401],
    ['no algorithm', 'Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290In0.', 401],
    ['a token in another header', 'X-Authorization: Bearer x', 403],
    ['Negotiate', 'Authorization: Negotiate YII=', 403],
    ['a cookie', 'Cookie: token=root', 403],
  ])('is nobody with %s', async (_, line, code) => {
    expect((await whoAmI([line])).codes).toEqual([code])
  })
})

describe('a front proxy', () => {
  it('is believed, the first name and every line of a group', async () => {
    const { codes, text } = await whoAmI(
      ['X-Remote-User: ada', 'X-Remote-User: root', 'X-Remote-Group: a,b', 'X-Remote-Group: c'],
      proxy,
    )
    expect(codes).toEqual([201])
    expect(text).toContain('"username":"ada"')
    expect(text).toContain('"groups":["a,b","c","system:authenticated"]')
  })

  it.each([
    ['no name', []],
    ['an empty name', ['X-Remote-User:']],
    ['underscores', ['X_Remote_User: root', 'X_Remote_Group: system:masters']],
  ])('with %s is nobody', async (_, lines) => {
    const { codes, text } = await whoAmI(lines, proxy)
    expect(codes).toHaveLength(1)
    expect([401, 403]).toContain(codes[0])
    expect(text).not.toContain('userInfo')
  })
})
