// What kube-apiserver's OIDC authenticator does with the same tokens (k8s.io/apiserver plugin/pkg/authenticator/token/oidc).
import { SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type OidcOptions, oidcTokens } from '../../../../apiservice/authn/oidc.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { StatusError } from '../../../../src/kernel/errors.ts'
import { type ManualClock, manualClock } from '../../../support/manual-clock.ts'
import { type OpenIdProvider, openIdProvider } from '../../../support/openid-provider.ts'

let provider: OpenIdProvider
let clock: ManualClock

beforeAll(async () => {
  provider = await openIdProvider()
})
afterAll(() => provider.close())
beforeEach(() => {
  clock = manualClock()
  provider.failing = false
  provider.about.issuer = provider.issuer
})

const seconds = (): number => clock.now() / 1000
const claimsWith = (more: Readonly<Record<string, unknown>> = {}) => ({
  iss: provider.issuer,
  aud: 'isthmus',
  sub: 'u-17',
  exp: seconds() + 60,
  ...more,
})

function lookupWith(more: Partial<OidcOptions> = {}) {
  const lookup = oidcTokens({
    issuer: provider.issuer,
    ca: provider.server.authority.certificate,
    clock,
    clientId: 'isthmus',
    usernameClaim: 'sub',
    usernamePrefix: undefined,
    groupsClaim: undefined,
    groupsPrefix: '',
    requiredClaims: new Map(),
    signingAlgs: ['RS256'],
    ...more,
  })
  return (token: string) => lookup(token, never)
}

/** The code, and what the log is told. */
async function refusal(asked: Promise<unknown>): Promise<readonly [number, string]> {
  const thrown = await asked.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(thrown instanceof StatusError)) throw new Error(`not refused: ${thrown}`)
  return [thrown.code, thrown.code === 401 ? String(thrown.cause) : thrown.message]
}

describe('users by the tokens of an OpenID provider', () => {
  it.each<[string, Partial<OidcOptions>, Record<string, unknown>, string, readonly string[]]>([
    ['sub by default', {}, {}, 'ISSUER#u-17', []],
    ['another claim', { usernameClaim: 'login' }, { login: 'ada' }, 'ISSUER#ada', []],
    [
      'no prefix for email',
      { usernameClaim: 'email' },
      { email: 'a@b.c', email_verified: true },
      'a@b.c',
      [],
    ],
    ['email of unknown standing', { usernameClaim: 'email' }, { email: 'a@b.c' }, 'a@b.c', []],
    ['a prefix of its own', { usernamePrefix: 'oidc:' }, {}, 'oidc:u-17', []],
    ['no prefix', { usernamePrefix: '-' }, {}, 'u-17', []],
    ['groups', { groupsClaim: 'groups' }, { groups: ['a', 'b'] }, 'ISSUER#u-17', ['a', 'b']],
    [
      'one group, with a prefix',
      { groupsClaim: 'role', groupsPrefix: 'oidc:' },
      { role: 'ops' },
      'ISSUER#u-17',
      ['oidc:ops'],
    ],
    ['no groups', { groupsClaim: 'groups' }, {}, 'ISSUER#u-17', []],
    ['groups of a provider in Go', { groupsClaim: 'groups' }, { groups: null }, 'ISSUER#u-17', []],
    ['several audiences', {}, { aud: ['other', 'isthmus'] }, 'ISSUER#u-17', []],
    ['required claims', { requiredClaims: new Map([['hd', 'b.c']]) }, { hd: 'b.c' }, 'ISSUER#u-17', []],
    ['a clock five minutes ahead', {}, { nbf: 'NOW+300' }, 'ISSUER#u-17', []],
  ])('%s', async (_, options, claims, ...[name, groups]) => {
    const nbf = claims.nbf === undefined ? {} : { nbf: seconds() + 300 }
    const user = await lookupWith(options)(await provider.token(claimsWith({ ...claims, ...nbf })))
    expect(user).toEqual({ name: name.replace('ISSUER', provider.issuer), groups, extra: {} })
  })

  it.each<[string, Partial<OidcOptions>, Record<string, unknown>, string]>([
    ['another audience', {}, { aud: 'other' }, 'bearer token is for another audience'],
    ['no audience', {}, { aud: undefined }, 'bearer token is for another audience'],
    ['expired', {}, { exp: 'now' }, 'bearer token has expired'],
    ['no expiry', {}, { exp: undefined }, 'bearer token has expired'],
    ['not good yet', {}, { nbf: 'late' }, 'bearer token is not good yet'],
    ['no name', { usernameClaim: 'login' }, {}, 'bearer token has no claim login'],
    ['a name that is none', { usernameClaim: 'login' }, { login: 7 }, 'bearer token has no claim login'],
    [
      'an address that is not verified',
      { usernameClaim: 'email' },
      { email: 'a@b.c', email_verified: false },
      'bearer token is of an email address that is not verified',
    ],
    [
      'groups that are none',
      { groupsClaim: 'groups' },
      { groups: ['a', 7] },
      "bearer token's claim groups is no list of groups",
    ],
    [
      'a name of the system',
      { usernamePrefix: '-' },
      { sub: 'system:admin' },
      'bearer token is of system:admin, which no provider may name',
    ],
    [
      'a name of a member',
      { usernamePrefix: 'hub.isthmus.dev:' },
      { sub: 'member:east' },
      'bearer token is of hub.isthmus.dev:member:east, which no provider may name',
    ],
    [
      'a group of the system',
      { groupsClaim: 'groups' },
      { groups: ['dev', 'system:masters'] },
      'bearer token is of system:masters, which no provider may name',
    ],
    [
      'a required claim',
      { requiredClaims: new Map([['hd', 'b.c']]) },
      { hd: 'x.y' },
      "bearer token's claim hd is not what it has to be",
    ],
    [
      'another way of signing',
      { signingAlgs: ['ES256'] },
      {},
      'bearer token is signed with "RS256", which is not among --oidc-signing-algs',
    ],
  ])('not for %s', async (_, options, claims, why) => {
    const times = {
      ...(claims.exp === 'now' ? { exp: seconds() } : {}),
      ...(claims.nbf === 'late' ? { nbf: seconds() + 301 } : {}),
    }
    const token = await provider.token(claimsWith({ ...claims, ...times }))
    expect(await refusal(lookupWith(options)(token))).toEqual([401, why])
  })

  it('not for who signs with another key, or not at all, or with the public one as a secret', async () => {
    const lookup = lookupWith()
    const good = await provider.token(claimsWith())
    const [header, , signature] = good.split('.')
    const payload = Buffer.from(JSON.stringify(claimsWith({ sub: 'root' }))).toString('base64url')
    const [code, why] = await refusal(lookup(`${header}.${payload}.${signature}`))
    expect([code, why]).toEqual([401, "bearer token's signature is not good: signature verification failed"])
    const unsigned = new UnsecuredJWT(claimsWith()).encode()
    expect((await refusal(lookup(unsigned)))[1]).toContain('signed with "none"')
    const secret = new SignJWT(claimsWith()).setProtectedHeader({ alg: 'HS256', kid: 'one' })
    const confused = await secret.sign(Buffer.from(provider.server.authority.certificate))
    expect((await refusal(lookup(confused)))[1]).toContain('signed with "HS256"')
  })

  it('leaves tokens of others to others', async () => {
    const lookup = lookupWith()
    for (const other of ['abc', 'a.b.c', 'x.eyJpc3MiOiJodHRwczovL290aGVyIn0.y']) {
      expect(await lookup(other)).toBeUndefined()
    }
    expect(await lookup(await provider.token(claimsWith({ iss: `${provider.issuer}/` })))).toBeUndefined()
  })
})

describe('the keys', () => {
  const askedFor = (path: string): number => provider.server.asked.filter(line => line.includes(path)).length

  it('are asked for once for many, and again when one is new, at most every ten seconds', async () => {
    const lookup = lookupWith()
    const before = askedFor('/keys')
    const tokens = await Promise.all([1, 2, 3].map(n => provider.token(claimsWith({ sub: `u-${n}` }))))
    await Promise.all(tokens.map(lookup))
    expect(askedFor('/keys')).toBe(before + 1)
    for (let n = 0; n < 5; n++) {
      const foreign = await provider.token(claimsWith({ sub: `x-${n}` }), { kid: `foreign-${n}` })
      expect(await refusal(lookup(foreign))).toEqual([
        401,
        'bearer token is signed by a key that its issuer does not have',
      ])
    }
    expect(askedFor('/keys')).toBe(before + 1)
    await provider.rotate('two')
    await clock.advance(10_001)
    expect((await lookup(await provider.token(claimsWith())))?.name).toBe(`${provider.issuer}#u-17`)
    expect(askedFor('/keys')).toBe(before + 2)
  })

  it('may be another one under the same id', async () => {
    await provider.rotate('same')
    const lookup = lookupWith()
    expect(await lookup(await provider.token(claimsWith({ sub: 'u-1' })))).toBeDefined()
    await provider.rotate('same')
    await clock.advance(10_001)
    expect(await lookup(await provider.token(claimsWith({ sub: 'u-2' })))).toBeDefined()
  })

  it('may be of other kinds', async () => {
    await provider.rotate('three', 'ES256')
    const lookup = lookupWith({ signingAlgs: ['RS256', 'ES256'] })
    expect((await lookup(await provider.token(claimsWith())))?.name).toBe(`${provider.issuer}#u-17`)
    await provider.rotate('four')
  })

  it('that cannot be had are a fault of ours, and are asked for again', async () => {
    const lookup = lookupWith()
    const token = await provider.token(claimsWith())
    const unavailable = [503, `the OpenID provider ${provider.issuer} cannot be asked for its keys`]
    provider.failing = true
    expect(await refusal(lookup(token))).toEqual(unavailable)
    provider.failing = false
    provider.about.issuer = 'https://other'
    expect(await refusal(lookup(token))).toEqual(unavailable)
    provider.about.issuer = provider.issuer
    expect((await lookup(token))?.name).toBe(`${provider.issuer}#u-17`)
    expect(await refusal(lookupWith({ ca: undefined })(token))).toEqual(unavailable)
  })

  it('are not needed for a token that was good a moment ago, which is not good for longer than ten seconds', async () => {
    const lookup = lookupWith()
    const token = await provider.token(claimsWith({ exp: seconds() + 5 }))
    expect(await lookup(token)).toBeDefined()
    provider.failing = true
    expect(await lookup(token)).toBeDefined()
    await clock.advance(10_000)
    expect(await refusal(lookup(token))).toEqual([401, 'bearer token has expired'])
  })
})
