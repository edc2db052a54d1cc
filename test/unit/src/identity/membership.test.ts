import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { MemberJoin } from '../../../../src/api/kinds/member-join.ts'
import { ClusterClient } from '../../../../src/cluster/client.ts'
import { readCertificate, signRequest, verifyRequest } from '../../../../src/identity/certificate.ts'
import type { JoinToken } from '../../../../src/identity/join-token.ts'
import {
  askStanding,
  joinHub,
  type Membership,
  type MembershipOptions,
  openMembership,
} from '../../../../src/identity/membership.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { systemClock } from '../../../../src/kernel/clock.ts'
import { forbidden, type StatusError, unauthorized } from '../../../../src/kernel/errors.ts'
import { temporaryFolder } from '../../../support/fleet.ts'
import { type HttpsServer, httpsServer, sendJson } from '../../../support/https-server.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const lifetime = { clock: systemClock, lifetimeMs: 3_600_000 }

/** With the credentials that the member has when it is asked. */
function hubClient(membership: Membership): ClusterClient {
  return new ClusterClient({
    name: 'hub',
    servers: membership.servers,
    credentials: async () => membership.credentials(),
    clock: systemClock,
  })
}

describe('a member', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let options: MembershipOptions
  let hub: HttpsServer
  let token: JoinToken
  const asked: { readonly authorization: string | undefined; readonly join: MemberJoin }[] = []
  const fault: {
    lose: boolean
    answer?: StatusError | undefined
    silent?: PromiseWithResolvers<void> | undefined
  } = { lose: false }

  async function signJoin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const joining = (await json(request)) as MemberJoin // what the member sends
    asked.push({ authorization: request.headers.authorization, join: joining })
    const verified = await verifyRequest(joining.spec.request)
    if (verified === undefined) throw new Error('not a request')
    const subject = { user: `member ${asked.length}`, groups: [] }
    const certificate = await signRequest(hub.authority, verified, subject, lifetime)
    const status = { certificate, caBundle: hub.authority.certificate, namespace: 'member-east' }
    if (fault.lose) request.socket.destroy()
    else sendJson(response, 201, { ...joining, status })
  }

  beforeEach(async () => {
    folder = temporaryFolder()
    options = { folder: join(folder.path, 'home'), clusterId: 'east', clock: systemClock }
    asked.length = 0
    fault.lose = false
    fault.answer = undefined
    fault.silent = undefined
    hub = await httpsServer((request, response) => {
      if (fault.answer !== undefined) sendJson(response, fault.answer.code, fault.answer.toStatus())
      else if (fault.silent !== undefined) fault.silent.resolve()
      else if (request.method === 'POST') void signJoin(request, response)
      else sendJson(response, 200, {})
    })
    token = {
      id: 'abcdefgh',
      secret: 's'.repeat(43),
      authoritySha256: readCertificate(hub.authority.certificate).sha256,
      servers: [hub.url],
    }
  })
  afterEach(async () => {
    await hub.close()
    folder.dispose()
  })

  it('joins with a token and finds itself joined afterwards', async () => {
    expect(await openMembership(options)).toBeUndefined()
    const membership = await joinHub(token, options, never)
    expect(asked).toMatchObject([
      { authorization: `Bearer abcdefgh.${'s'.repeat(43)}`, join: { spec: { clusterID: 'east' } } },
    ])
    expect(membership).toMatchObject({ clusterId: 'east', namespace: 'member-east', servers: [hub.url] })
    const again = await openMembership(options)
    expect(again?.credentials()).toEqual(membership.credentials())
    expect(again?.certificate.subject).toBe('CN=member 1')
  })

  it('says nothing to a hub that did not make its token', async () => {
    const other = { ...token, authoritySha256: 'a'.repeat(64) }
    await expect(joinHub(other, options, never)).rejects.toThrow(
      /is another hub than the one that made the token/,
    )
    expect(asked).toEqual([])
  })

  it('says what is wrong with a token that the hub does not take', async () => {
    fault.answer = unauthorized()
    await expect(joinHub(token, options, never)).rejects.toThrow(/^the hub does not take the join token: /)
  })

  const memberRef = { group: 'hub.isthmus.dev', resource: 'memberclusters' }
  it.each([
    ['gone', forbidden(memberRef, 'east', 'no cluster "east" has joined')],
    [
      'gone',
      forbidden(memberRef, 'east', 'cluster "east" has joined anew since this certificate was issued'),
    ],
    ['gone', unauthorized()],
    ['shut out', forbidden(memberRef, 'east', 'cluster "east" is not accepted')],
    ['unknown', forbidden(memberRef, 'east', 'not granted to clusters')],
  ])('finds itself %s by the words of the hub', async (is, answer) => {
    const membership = await joinHub(token, options, never)
    fault.answer = answer
    expect(await askStanding(membership, systemClock, never)).toEqual({ is, why: answer.message })
  })

  it('does not know where it stands while the hub is away', async () => {
    const membership = await joinHub(token, options, never)
    await hub.close()
    expect(await askStanding(membership, systemClock, never)).toMatchObject({ is: 'unknown' })
    hub = await httpsServer(() => undefined)
  })

  it('does not wait for a hub that does not answer', async () => {
    const membership = await joinHub(token, options, never)
    const clock = manualClock()
    fault.silent = Promise.withResolvers<void>()
    const asking = askStanding(membership, clock, never)
    await fault.silent.promise
    await clock.advance(2_000)
    expect(await asking).toEqual({ is: 'unknown', why: 'no answer within 2 s' })
  })

  it('takes away the key that an earlier release left behind', async () => {
    await joinHub(token, options, never)
    const left = join(options.folder, 'hub-pending.key')
    writeFileSync(left, 'key')
    expect(await openMembership(options)).toBeDefined()
    expect(existsSync(left)).toBe(false)
  })

  it('asks again with the same key when the answer was lost', async () => {
    fault.lose = true
    await expect(joinHub(token, options, never)).rejects.toMatchObject({ reason: 'ServiceUnavailable' })
    fault.lose = false
    await joinHub(token, options, never)
    const keys = await Promise.all(asked.map(({ join: { spec } }) => verifyRequest(spec.request)))
    expect(keys[0]?.keySha256).toBe(keys[1]?.keySha256)
  })

  it('joins with another key when it joins another time', async () => {
    await joinHub(token, options, never)
    await joinHub(token, options, never)
    const keys = await Promise.all(asked.map(({ join: { spec } }) => verifyRequest(spec.request)))
    expect(keys[0]?.keySha256).not.toBe(keys[1]?.keySha256)
  })

  it('has a new key signed with its certificate, and keeps it', async () => {
    const membership = await joinHub(token, options, never)
    const before = membership.credentials()
    const client = hubClient(membership)
    await membership.renew(client, never)
    client.close()
    expect(hub.asked.at(-1)).toMatch(/^POST .*memberjoins by member 1$/)
    expect(membership.credentials().key).not.toBe(before.key)
    expect(membership.certificate.subject).toBe('CN=member 2')
    expect((await openMembership(options))?.credentials()).toEqual(membership.credentials())
  })

  it('stays who it was when it cannot keep what it became', async () => {
    const membership = await joinHub(token, options, never)
    const before = membership.credentials()
    const client = hubClient(membership)
    const record = join(options.folder, 'hub.json')
    renameSync(record, `${record}.aside`)
    mkdirSync(join(record, 'in the way'), { recursive: true })
    await expect(membership.renew(client, never)).rejects.toThrow()
    expect(membership.credentials()).toEqual(before)
    rmSync(record, { recursive: true })
    await membership.renew(client, never)
    client.close()
    expect((await openMembership(options))?.credentials()).toEqual(membership.credentials())
  })

  it('says which servers it could not reach', async () => {
    const unreachable = { ...token, servers: ['https://127.0.0.1:1'] }
    await expect(joinHub(unreachable, options, never)).rejects.toThrow(
      /^https:\/\/127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/,
    )
  })

  it('does not go on as another cluster', async () => {
    await joinHub(token, options, never)
    await expect(openMembership({ ...options, clusterId: 'west' })).rejects.toThrow(
      /is of the member "east", not "west"/,
    )
  })
})
