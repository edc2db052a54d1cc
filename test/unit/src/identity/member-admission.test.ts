import { X509Certificate } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { type JoinToken, JoinTokenKind } from '../../../../src/api/kinds/join-token.ts'
import { type MemberCluster, MemberClusterKind } from '../../../../src/api/kinds/member-cluster.ts'
import type { MemberJoin } from '../../../../src/api/kinds/member-join.ts'
import { NamespaceKind } from '../../../../src/api/kinds/namespace.ts'
import { resource } from '../../../../src/cluster/cluster.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { type Identity, makeAuthority, makeKey, makeRequest } from '../../../../src/identity/certificate.ts'
import { secretSha256 } from '../../../../src/identity/join-token.ts'
import { MemberAdmission, removeExpiredTokens } from '../../../../src/identity/member-admission.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { toTime } from '../../../../src/kernel/clock.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { type ManualClock, manualClock } from '../../../support/manual-clock.ts'

const tokens = resource(JoinTokenKind)
const members = resource(MemberClusterKind)
const namespaces = resource(NamespaceKind)
/** Seconds since the epoch, when the clock of these tests starts. */
const first = 1_767_323_045
const hourMs = 3_600_000

describe('joining', () => {
  let clock: ManualClock
  let hub: MemoryCluster
  /** Comes in between when a namespace is about to be created. */
  let beforeNamespace: (() => Promise<void>) | undefined
  let authority: Identity
  let admission: MemberAdmission
  beforeEach(async () => {
    clock = manualClock()
    beforeNamespace = undefined
    hub = new MemoryCluster({
      name: 'hub',
      clock,
      intercept: ({ verb, resource: { plural } }) =>
        verb === 'create' && plural === 'namespaces' ? beforeNamespace?.() : undefined,
    })
    authority = await makeAuthority('hub', { clock, lifetimeMs: 1000 * hourMs })
    admission = new MemberAdmission({
      hub,
      authority: () => authority,
      caBundle: () => authority.certificate,
      clock,
      log: silentLogger,
    })
    await hub.create(tokens, aToken('token1'), never)
  })

  function aToken(name: string, clusterID?: string): JoinToken {
    return {
      apiVersion: tokens.apiVersion,
      kind: tokens.kind,
      metadata: { name },
      spec: {
        secretSHA256: secretSha256('secret'),
        expirationTime: toTime(clock.now() + hourMs),
        ...(clusterID === undefined ? {} : { clusterID }),
      },
    }
  }

  async function ask(options: {
    readonly by: { readonly name: string; readonly groups: readonly string[] }
    readonly clusterID?: string
    readonly key?: string
    readonly request?: string
    readonly dryRun?: boolean
  }): Promise<NonNullable<MemberJoin['status']>> {
    const { by, clusterID = 'east', key = await makeKey(), dryRun = false } = options
    const request = options.request ?? (await makeRequest(key))
    const object: MemberJoin = {
      apiVersion: 'hub.isthmus.dev/v1alpha1',
      kind: 'MemberJoin',
      metadata: { name: '' },
      spec: { clusterID, request },
    }
    const { status } = await admission.review({ object, user: by, dryRun }, never)
    if (status === undefined) throw new Error('no status')
    return status
  }

  const joiner = (token: string) => ({
    name: `hub.isthmus.dev:joiner:${token}`,
    groups: ['hub.isthmus.dev:joiners', 'system:authenticated'],
  })
  const member = (id: string, generation: number) => ({
    name: `hub.isthmus.dev:member:${id}`,
    groups: ['hub.isthmus.dev:members', `hub.isthmus.dev:generation:${generation}`],
  })
  const memberOf = (id: string): Promise<MemberCluster> => hub.get(members, { name: id }, never)

  it('makes a member, its namespace and its certificate', async () => {
    const status = await ask({ by: joiner('token1') })
    expect(status).toMatchObject({ namespace: 'member-east', caBundle: authority.certificate })
    const certificate = new X509Certificate(status.certificate)
    expect(certificate.subject).toBe(
      'O=hub.isthmus.dev:members\nO=hub.isthmus.dev:generation:1767323045\nCN=hub.isthmus.dev:member:east',
    )
    expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
    expect(await memberOf('east')).toMatchObject({
      spec: { accepted: true, credentialGeneration: first },
      status: { namespace: 'member-east', firstAcceptedTime: '2026-01-02T03:04:05Z' },
    })
    expect(await hub.get(namespaces, { name: 'member-east' }, never)).toMatchObject({
      metadata: { labels: { 'hub.isthmus.dev/cluster': 'east' } },
    })
    expect(await hub.get(tokens, { name: 'token1' }, never)).toMatchObject({
      status: { used: { clusterID: 'east' } },
    })
  })

  it('lets exactly one of many in that come with one token at once', async () => {
    const asked = Array.from({ length: 8 }, (_, at) => ask({ by: joiner('token1'), clusterID: `c${at}` }))
    const outcomes = await Promise.allSettled(asked)
    expect(outcomes.filter(outcome => outcome.status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ code: 403, reason: 'Forbidden' })
    }
    expect((await hub.list(members, {}, never)).items).toHaveLength(1)
  })

  it('answers the same key again, and no other', async () => {
    const key = await makeKey()
    await ask({ by: joiner('token1'), key })
    await ask({ by: joiner('token1'), key })
    expect((await memberOf('east')).spec.credentialGeneration).toBe(first)
    await expect(ask({ by: joiner('token1') })).rejects.toThrow(/was used already, by the cluster "east"/)
    await expect(ask({ by: joiner('token1'), key, clusterID: 'west' })).rejects.toThrow(/was used already/)
  })

  it('does not bring back with a used token what was revoked, evicted or removed', async () => {
    const key = await makeKey()
    await ask({ by: joiner('token1'), key })
    const revoked = { spec: { credentialGeneration: first + 1 } }
    await hub.mergePatch(members, { name: 'east' }, revoked, { signal: never })
    await expect(ask({ by: joiner('token1'), key })).rejects.toThrow(/was used already/)
    const evicted = { spec: { credentialGeneration: first, accepted: false } }
    await hub.mergePatch(members, { name: 'east' }, evicted, { signal: never })
    await expect(ask({ by: joiner('token1'), key })).rejects.toThrow(/was used already/)
    await hub.delete(members, { name: 'east' }, { signal: never })
    await expect(ask({ by: joiner('token1'), key })).rejects.toThrow(/was used already/)
  })

  it('refuses a token after its time', async () => {
    await clock.advance(hourMs)
    await expect(ask({ by: joiner('token1') })).rejects.toThrow(/the join token has expired/)
    await removeExpiredTokens(hub, clock, never)
    expect((await hub.list(tokens, {}, never)).items).toEqual([])
  })

  it('refuses a token that is meant for another cluster', async () => {
    await hub.create(tokens, aToken('token2', 'west'), never)
    await expect(ask({ by: joiner('token2') })).rejects.toThrow(/is for the cluster "west", not "east"/)
  })

  it('does not give away an id that is taken', async () => {
    await ask({ by: joiner('token1') })
    await hub.create(tokens, aToken('token2'), never)
    await expect(ask({ by: joiner('token2') })).rejects.toThrow(/the cluster id "east" is taken/)
  })

  it('lets a cluster back in with a token of its own, out with its old certificates', async () => {
    await ask({ by: joiner('token1') })
    await hub.mergePatch(members, { name: 'east' }, { spec: { accepted: false } }, { signal: never })
    await clock.advance(hourMs / 2)
    await hub.create(tokens, aToken('token2', 'east'), never)
    const status = await ask({ by: joiner('token2') })
    expect(new X509Certificate(status.certificate).subject).toContain(
      `hub.isthmus.dev:generation:${first + 1}`,
    )
    expect(await memberOf('east')).toMatchObject({
      spec: { accepted: true, credentialGeneration: first + 1 },
      status: { firstAcceptedTime: '2026-01-02T03:04:05Z' },
    })
  })

  it('takes no certificate from before a removal when the id joins another time', async () => {
    const before = new X509Certificate((await ask({ by: joiner('token1') })).certificate)
    await hub.delete(members, { name: 'east' }, { signal: never })
    await clock.advance(1_000)
    await hub.create(tokens, aToken('token2'), never)
    const after = new X509Certificate((await ask({ by: joiner('token2') })).certificate)
    const generationOf = ({ subject }: X509Certificate): number =>
      Number(/generation:(\d+)/.exec(subject)?.[1])
    expect(generationOf(after)).toBeGreaterThan(generationOf(before))
  })

  it('takes the namespace that another join makes at the same moment', async () => {
    const labels = { 'hub.isthmus.dev/cluster': 'east' }
    beforeNamespace = async () => {
      beforeNamespace = undefined
      await hub.create(
        namespaces,
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'member-east', labels } },
        never,
      )
    }
    expect((await ask({ by: joiner('token1') })).namespace).toBe('member-east')
    expect(beforeNamespace).toBeUndefined()
    expect(await memberOf('east')).toMatchObject({ spec: { accepted: true } })
  })

  it('does not take over a namespace of somebody else', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'member-east' } }
    await hub.create(namespaces, namespace, never)
    await expect(ask({ by: joiner('token1') })).rejects.toMatchObject({ code: 409 })
  })

  it('writes nothing on a dry run', async () => {
    const status = await ask({ by: joiner('token1'), dryRun: true })
    expect(status.certificate).toBe('')
    expect((await hub.list(members, {}, never)).items).toEqual([])
  })

  it.each([
    ['no request', { request: 'hello' }, /spec\.request: Invalid value/],
    [
      'a bad id',
      { clusterID: 'a.b.c' },
      /spec\.clusterID: Invalid value: "a\.b\.c": must be one or two DNS labels/,
    ],
  ])('says what is wrong with %s', async (_what, wrong, message) => {
    const asked = ask({ by: joiner('token1'), ...wrong })
    await expect(asked).rejects.toMatchObject({ code: 422, message: expect.stringMatching(message) })
  })

  describe('and renewing', () => {
    beforeEach(() => ask({ by: joiner('token1') }))

    it('signs a new key for a member', async () => {
      const status = await ask({ by: member('east', first) })
      expect(new X509Certificate(status.certificate).subject).toContain('CN=hub.isthmus.dev:member:east')
    })

    it.each([
      ['another member', member('west', first), {}],
      ['an earlier generation', member('east', first), { credentialGeneration: first + 1 }],
      ['an evicted member', member('east', first), { accepted: false }],
      ['an administrator', { name: 'admin', groups: ['system:masters'] }, {}],
      ['somebody of the same name', { name: member('east', first).name, groups: [] }, {}],
    ])('refuses %s', async (_who, by, spec) => {
      await hub.mergePatch(members, { name: 'east' }, { spec }, { signal: never })
      await expect(ask({ by })).rejects.toMatchObject({ code: 403 })
    })
  })
})
