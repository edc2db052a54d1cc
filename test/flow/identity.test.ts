// Who a member is: other credentials, another id, another cluster under its id, a certificate that has lapsed, a clock that
// is wrong, and the hub's word that it is out. Processes of their own with their stores on disk; only clocks are injected.
// Each scenario ends with imports, slices and DNS as what is exported.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { leases } from '../../src/heartbeat/lease.ts'
import { authorityNames } from '../../src/identity/authorities.ts'
import { byteOrder } from '../../src/merge/precedence.ts'
import { eventually } from '../support/eventually.ts'
import { contextClient } from '../support/fleet-client.ts'
import { memberClusters, serviceExports, textOf } from '../support/memory-fleet.ts'
import { type Member, members, type SeparateProcesses, separateProcesses } from './deployment.ts'
import { Shop, signal } from './shop.ts'

type Exported = Partial<Record<Member, readonly string[]>>

let deployment: SeparateProcesses
let shop: Shop

async function opened(heartbeat: string, clocks: Partial<Record<Member, number>> = {}): Promise<void> {
  deployment = await separateProcesses(heartbeat, clocks)
  shop = new Shop(deployment)
  for (const member of members) await shop.open(member)
}

async function expectSeen(what: string, exported: Exported, from: readonly Member[] = members) {
  const addresses = Object.values(exported).flat().sort()
  await shop.expectAnswers(what, addresses, from)
  const clusters = Object.keys(exported).sort(byteOrder)
  for (const member of from) {
    await eventually(async () => {
      expect(await shop.endpointsOf(member, what)).toEqual(addresses)
      expect((await shop.importOf(member, what)).status?.clusters?.map(({ cluster }) => cluster)).toEqual(
        clusters,
      )
    }, 45_000)
  }
}

const edit = (spec: object): Promise<unknown> =>
  deployment.client('hub').mergePatch(memberClusters, { name: 'west' }, { spec }, { signal: signal() })

describe('a member', () => {
  const many = Array.from({ length: 100 }, (_, at) => `10.2.1.${at + 1}`)
  beforeAll(async () => {
    await opened('10s')
    await shop.export('east', 'db', { addresses: ['10.1.0.41'], isHeadless: true })
    await shop.export('west', 'db', { addresses: many, isHeadless: true })
    await expectSeen('db', { east: ['10.1.0.41'], west: many })
  }, 240_000)
  afterAll(() => deployment.stop())

  it('B26: loses no endpoint while its credentials are replaced, which ends the old ones', async () => {
    const counts: number[] = []
    const watching = new AbortController()
    const watch = async (): Promise<void> => {
      while (!watching.signal.aborted) counts.push((await shop.endpointsOf('east', 'db')).length)
    }
    const watched = watch()
    const before = await deployment.client('hub').get(memberClusters, { name: 'west' }, signal())
    await deployment.joinAgain('west', 'itself')
    const after = await deployment.client('hub').get(memberClusters, { name: 'west' }, signal())
    expect(Number(after.spec.credentialGeneration)).toBeGreaterThan(Number(before.spec.credentialGeneration))
    await shop.export('west', 'late', { addresses: ['10.2.0.9'], isHeadless: true })
    await shop.expectAnswers('late', ['10.2.0.9'])
    watching.abort()
    await watched
    expect(counts.length).toBeGreaterThan(0)
    expect(new Set(counts)).toEqual(new Set([101]))
    await expectSeen('db', { east: ['10.1.0.41'], west: many })
  }, 240_000)

  it('is out at once when the hub says so, and comes back with what has changed meanwhile', async () => {
    await edit({ accepted: false })
    await expectSeen('db', { east: ['10.1.0.41'] }, ['east'])
    await shop.move('west', 'db', '10.2.0.77')
    const client = deployment.client('west')
    await eventually(async () => {
      const { items } = await client.list(serviceExports, { namespace: 'shop' }, signal())
      expect(items.map(({ status }) => textOf(status?.conditions).Ready)).toEqual([
        'False/Failed',
        'False/Failed',
      ])
    }, 45_000)
    expect(await shop.endpointsOf('east', 'db')).toEqual(['10.1.0.41'])
    await edit({ accepted: true })
    await expectSeen('db', { east: ['10.1.0.41'], west: ['10.2.0.77'] })
  }, 240_000)

  it('B98: does not start under another id over the same state, which changes nothing', async () => {
    await deployment.kill('west')
    const { code, output } = await deployment.tryMember('west', ['--cluster-id', 'north'])
    expect(code).toBe(1)
    expect(output).toContain('is of the member "west", not "north"; use another --home or that cluster id')
    await deployment.start('west')
    await expectSeen('db', { east: ['10.1.0.41'], west: ['10.2.0.77'] })
  }, 240_000)

  it('whose cluster was made anew under its id exports what the new one does, and nothing of the old', async () => {
    await deployment.joinAgain('west', 'another')
    await deployment.kill('west dns')
    await deployment.start('west dns')
    await expectSeen('db', { east: ['10.1.0.41'] }, ['east'])
    const west = await contextClient(join(deployment.homeOf('west'), 'kubeconfig'), 'west')
    try {
      const client = (context: 'hub' | Member) => (context === 'west' ? west : deployment.client(context))
      shop = new Shop({ client, dnsPort: deployment.dnsPort })
      await shop.open('west')
      await shop.export('west', 'db', { addresses: ['10.2.0.5'], isHeadless: true })
      await expectSeen('db', { east: ['10.1.0.41'], west: ['10.2.0.5'] })
    } finally {
      west.close()
    }
  }, 240_000)
})

describe('another authority of the hub', () => {
  beforeAll(async () => {
    await opened('1s')
    await shop.export('east', 'db', { addresses: ['10.1.0.41'], isHeadless: true })
    await shop.export('west', 'db', { addresses: ['10.2.0.41'], isHeadless: true })
    await expectSeen('db', { east: ['10.1.0.41'], west: ['10.2.0.41'] })
  }, 240_000)
  afterAll(() => deployment.stop())

  /** As members tell with their heartbeats; the hub is asked by whoever has its kubeconfig as it is now. */
  async function expectTrust(names: readonly string[]): Promise<void> {
    const hub = await contextClient(join(deployment.homeOf('hub'), 'kubeconfig'), 'hub')
    try {
      await eventually(async () => {
        const { items } = await hub.list(leases, { fieldSelector: 'metadata.name=heartbeat' }, signal())
        const told = items.map(({ metadata }) => metadata.annotations?.['hub.isthmus.dev/trusts'])
        expect(told).toEqual(members.map(() => names.join(',')))
      }, 120_000)
    } finally {
      hub.close()
    }
  }

  it('comes in three steps without a lost endpoint', async () => {
    const both = ['10.1.0.41', '10.2.0.41']
    const seen: (readonly string[])[] = []
    const watching = new AbortController()
    const watch = async (): Promise<void> => {
      while (!watching.signal.aborted) seen.push(await shop.endpointsOf('east', 'db'))
    }
    const watched = watch()
    const pki = join(deployment.homeOf('hub'), 'pki')
    const [former = ''] = authorityNames(readFileSync(join(pki, 'ca.crt'), 'utf8'))
    const [next = ''] = (await deployment.authority('prepare')).split(' ')
    await expectTrust([former, next])
    expect(await deployment.authority('switch')).toContain(`${next} signs`)
    await expectTrust([next, former])
    await deployment.authority('retire')
    await expectTrust([next])
    await shop.export('west', 'late', { addresses: ['10.2.0.9'], isHeadless: true })
    await shop.expectAnswers('late', ['10.2.0.9'])
    watching.abort()
    await watched
    expect(seen.filter(addresses => addresses.join() !== both.join())).toEqual([])
    await expectSeen('db', { east: ['10.1.0.41'], west: ['10.2.0.41'] })
  }, 400_000)
})

describe('clocks', () => {
  const dayMs = 86_400_000
  beforeAll(async () => {
    await opened('1s', { east: 600_000, west: -600_000 })
    await shop.export('west', 'db', { addresses: ['10.2.0.41'], isHeadless: true })
    await shop.export('east', 'db', { addresses: ['10.1.0.41'], isHeadless: true })
  }, 240_000)
  afterAll(() => deployment.stop())

  it('ten minutes ahead and ten behind disturb nobody, and the hub says so', async () => {
    await expectSeen('db', { east: ['10.1.0.41'], west: ['10.2.0.41'] })
    for (const [name, seconds] of [
      ['east', 600],
      ['west', -600],
    ] as const) {
      const { status } = await deployment.client('hub').get(memberClusters, { name }, signal())
      expect(Math.abs(Number(status?.clockSkewSeconds) - seconds)).toBeLessThan(120)
      expect(textOf(status?.conditions).Available).toBe('True/Heartbeat')
    }
  }, 240_000)

  it('a certificate that lapsed while the member was off: it says so, and joins again with a token', async () => {
    await deployment.kill('west')
    await deployment.kill('east')
    await deployment.kill('hub')
    for (const part of ['hub', 'east', 'west'] as const) deployment.shiftClock(part, 91 * dayMs)
    await deployment.start('hub')
    const { code, output } = await deployment.tryMember('west', [])
    expect(code).toBe(1)
    expect(output).toMatch(
      /the hub has removed the cluster "west" or revoked its certificate \(it expired at [^)]+\): give --join a new token/,
    )
    for (const member of members) await deployment.joinAgain(member, 'lapsed')
    await shop.move('west', 'db', '10.2.0.42')
    await expectSeen('db', { east: ['10.1.0.41'], west: ['10.2.0.42'] })
  }, 240_000)
})
