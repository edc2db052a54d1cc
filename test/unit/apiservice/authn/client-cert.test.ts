import { expect, it } from 'vitest'
import { clientCertAuthenticator } from '../../../../apiservice/authn/client-cert.ts'
import type { UserInfo } from '../../../../apiservice/contract.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { StatusError } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { anApiRequest } from '../../../support/api-request.ts'
import {
  aCertificate,
  aCertificateAuthority,
  aClientCertificate,
  aCriticalExtension,
  aKeyPair,
  type Issued,
} from '../../../support/certificates.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const noon = Date.parse('2026-06-15T12:00:00Z')
const ca = await aCertificateAuthority('users')
const clientAuth = '1.3.6.1.5.5.7.3.2'
const serverAuth = '1.3.6.1.5.5.7.3.1'

function world(bundle: () => string = () => ca.pem, nowMs = noon) {
  const clock = manualClock(nowMs)
  const log = memoryLogger()
  const authenticator = clientCertAuthenticator({ caBundle: bundle, clock, log })
  const present = async (...sent: readonly Pick<Issued, 'der'>[]): Promise<UserInfo | undefined> =>
    authenticator.authenticate(
      anApiRequest({ peer: { address: '127.0.0.1', certificates: sent.map(each => each.der) } }),
      never,
    )
  return { clock, log, present }
}

/** What the log may say of a refused certificate; the client only sees a 401. */
async function refusal(attempt: Promise<unknown>): Promise<unknown> {
  const thrown = await attempt.then(
    () => new Error('accepted'),
    (failure: unknown) => failure,
  )
  if (!(thrown instanceof StatusError)) throw thrown
  expect(thrown.toStatus()).toMatchObject({ code: 401, message: 'Unauthorized' })
  return thrown.cause
}

it('the common name is the user and each organization a group', async () => {
  const ada = await aClientCertificate(ca, 'ada', ['ops', 'a,b', 'x\nO=system:masters'])
  expect(await world().present(ada)).toEqual({
    name: 'ada',
    groups: ['ops', 'a,b', 'x\nO=system:masters'],
    extra: {
      'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)],
    },
  })
})

it('names are read as UTF-8', async () => {
  expect(await world().present(await aClientCertificate(ca, 'Zoë 雪', ['équipe']))).toMatchObject({
    name: 'Zoë 雪',
    groups: ['équipe'],
  })
})

it('the uid attribute is the uid', async () => {
  const ada = await aClientCertificate(ca, 'ada', [], {
    subject: [{ CN: ['ada'] }, { '1.3.6.1.4.1.57683.2': ['u-1'] }],
  })
  expect(await world().present(ada)).toMatchObject({ name: 'ada', uid: 'u-1', groups: [] })
})

it('no certificate is no attempt', async () => {
  expect(await world().present()).toBeUndefined()
})

it('without a CA nothing is asked of certificates', async () => {
  expect(await world(() => '').present(await aClientCertificate(ca, 'ada'))).toBeUndefined()
})

const otherCa = await aCertificateAuthority('other')
const namesake = await aCertificateAuthority('users')
const stolenName = await aKeyPair()
const client = { usages: [clientAuth] }
const evil: readonly [string, () => Promise<readonly Issued[]>, RegExp][] = [
  ['of another CA', async () => [await aClientCertificate(otherCa, 'ada')], /unknown authority/],
  ['of a CA with our name', async () => [await aClientCertificate(namesake, 'ada')], /unknown authority/],
  [
    'that claims our CA and key id but is signed by another key',
    async () => [await aClientCertificate(ca, 'ada', [], { signedBy: stolenName })],
    /unknown authority/,
  ],
  [
    'that signed itself',
    async () => [await aCertificate({ subject: [{ CN: ['ada'] }], ...client })],
    /unknown/,
  ],
  [
    'that signed itself as a CA with our name',
    async () => [await aCertificate({ subject: ca.subject, ca: true, ...client })],
    /unknown/,
  ],
  [
    'with a self-made intermediate',
    async () => {
      const evilCa = await aCertificateAuthority('evil')
      return [await aClientCertificate(evilCa, 'ada'), evilCa]
    },
    /unknown authority/,
  ],
  [
    'signed by another user',
    async () => {
      const bob = await aClientCertificate(ca, 'bob')
      return [await aClientCertificate(bob, 'ada'), bob]
    },
    /unknown authority/,
  ],
  [
    'that has expired',
    async () => [await aClientCertificate(ca, 'ada', [], { notAfter: '2026-06-15T11:59:59Z' })],
    /has expired/,
  ],
  [
    'that is not valid yet',
    async () => [await aClientCertificate(ca, 'ada', [], { notBefore: '2026-06-15T12:00:01Z' })],
    /not valid yet/,
  ],
  [
    'for servers',
    async () => [await aClientCertificate(ca, 'ada', [], { usages: [serverAuth] })],
    /not a certificate for client authentication/,
  ],
  [
    'for no stated use',
    async () => [await aCertificate({ subject: [{ CN: ['ada'] }], issuer: ca })],
    /not a certificate for client authentication/,
  ],
  [
    'with an unknown critical extension',
    async () => [await aClientCertificate(ca, 'ada', [], { extensions: [aCriticalExtension('1.2.3.4')] })],
    /unknown critical extension/,
  ],
  [
    'without a common name',
    async () => [await aClientCertificate(ca, '', ['ops'], { subject: [{ O: ['ops'] }] })],
    /no common name/,
  ],
  ['that is garbage', async () => [{ ...ca, der: Buffer.from('MII') }], /./],
  [
    'that is sent with too many others',
    async () => Array.from({ length: 10 }, () => ca),
    /too many certificates/,
  ],
]

it.each(evil)('a certificate %s is refused', async (_, make, why) => {
  expect(await refusal(world().present(...(await make())))).toMatch(why)
})

it.each([
  ['a good one', {}, true],
  ['one that may not sign', { maySign: false }, false],
  ['one that is no CA', { ca: false }, false],
  ['one that has expired', { notAfter: '2026-06-01T00:00:00Z' }, false],
  ['one for servers only', { usages: [serverAuth] }, false],
  ['one with name constraints we do not read', { extensions: [aCriticalExtension('2.5.29.30')] }, false],
])('an intermediate vouches when it is %s', async (_, options, good) => {
  const intermediate = await aCertificateAuthority('team', { issuer: ca, ...options })
  const attempt = world().present(await aClientCertificate(intermediate, 'ada'), intermediate)
  if (good) expect(await attempt).toMatchObject({ name: 'ada' })
  else expect(await refusal(attempt)).toMatch(/unknown authority/)
})

it('an authority stands no deeper than its path length says', async () => {
  const root = await aCertificateAuthority('root', { pathLength: 1 })
  const first = await aCertificateAuthority('first', { issuer: root })
  const second = await aCertificateAuthority('second', { issuer: first })
  const { present } = world(() => root.pem)
  expect(await present(await aClientCertificate(first, 'ada'), first)).toMatchObject({ name: 'ada' })
  expect(await refusal(present(await aClientCertificate(second, 'eve'), second, first))).toMatch(
    /unknown authority/,
  )
})

it('an expired CA vouches for nobody', async () => {
  const old = await aCertificateAuthority('old', { notAfter: '2026-06-01T00:00:00Z' })
  expect(await refusal(world(() => old.pem).present(await aClientCertificate(old, 'ada')))).toMatch(/unknown/)
})

it('a verified certificate is refused once it has expired', async () => {
  const { clock, present } = world()
  const ada = await aClientCertificate(ca, 'ada', [], { notAfter: '2026-06-15T12:01:00Z' })
  expect(await present(ada)).toMatchObject({ name: 'ada' })
  await clock.advance(60_000)
  expect(await present(ada)).toMatchObject({ name: 'ada' })
  await clock.advance(1)
  expect(await refusal(present(ada))).toMatch(/expired/)
})

it('a verified certificate is refused once the CA that vouched has expired', async () => {
  const short = await aCertificateAuthority('short', { notAfter: '2026-06-15T12:01:00Z' })
  const { clock, present } = world(() => short.pem)
  const ada = await aClientCertificate(short, 'ada')
  expect(await present(ada)).toMatchObject({ name: 'ada' })
  await clock.advance(60_001)
  expect(await refusal(present(ada))).toMatch(/unknown authority/)
})

it('a new bundle counts from the next request on', async () => {
  let bundle = ca.pem
  const { present } = world(() => bundle)
  const old = await aClientCertificate(ca, 'ada')
  const fresh = await aClientCertificate(otherCa, 'bob')
  expect(await present(old)).toMatchObject({ name: 'ada' })
  bundle = `# both\n${ca.pem}\n${otherCa.pem}`
  expect([(await present(old))?.name, (await present(fresh))?.name]).toEqual(['ada', 'bob'])
  bundle = otherCa.pem
  expect(await refusal(present(old))).toMatch(/unknown authority/)
})

it('a bundle that cannot be read changes nothing and is logged once', async () => {
  let bundle = ca.pem
  const { log, present } = world(() => bundle)
  const ada = await aClientCertificate(ca, 'ada')
  bundle = 'half a file'
  expect(await present(ada)).toMatchObject({ name: 'ada' })
  expect(await present(ada)).toMatchObject({ name: 'ada' })
  expect(log.lines.map(line => [line.level, line.message])).toEqual([
    ['error', 'client CA bundle cannot be read'],
  ])
})

it('a bundle that cannot be read at the start is an error', () => {
  expect(() => world(() => 'nonsense')).toThrow('no PEM certificate in the client CA bundle')
})
