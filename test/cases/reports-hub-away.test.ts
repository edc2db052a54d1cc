// What users of other implementations reported of services that are exported while the hub cannot be reached: each test
// is named after the kind of fault.
import { afterEach, describe, expect, it } from 'vitest'
import { never } from '../../src/kernel/abort.ts'
import {
  type MemoryFleet,
  memberClusters,
  memoryFleet,
  serviceImports,
  services,
} from '../support/memory-fleet.ts'
import { cut, exporting, exportOf, gone, happen, restored, serving, sliceOf, unexport } from './acts.ts'
import type { Act } from './case.ts'
import { everything, seenBy } from './seen.ts'

let fleet: MemoryFleet

afterEach(() => fleet.end())

const happens = (...acts: readonly Act[]): Promise<void> => happen(fleet, acts)

/** Past what agents wait before they ask a hub again that was away. */
const pastRetries = async (): Promise<void> => {
  await fleet.clock.advance(60_000)
  await fleet.settle()
}

const headless = { spec: { clusterIP: 'None' } }
const questions = ['web']

/** What was written to imports and imported slices of the member, in short. */
const written = (id: string): readonly string[] =>
  fleet
    .member(id)
    .local.writes.filter(({ resource }) => ['serviceimports', 'endpointslices'].includes(resource.plural))
    .map(({ verb }) => verb)

describe('B104: a service that is first exported while the hub is away', () => {
  it.each(['is lost', 'was never there'] as const)('has its import at once when the hub %s', async how => {
    fleet = await memoryFleet({ members: ['c1', 'c2'] })
    await happens(cut('c1'))
    if (how === 'was never there') {
      fleet.member('c1').stop()
      fleet.member('c1').start()
    }
    await happens(...exporting('c1@10', headless), ...exporting('c1@10', { name: 'shared' }))
    await fleet.clock.advance(3_000)
    await fleet.settle()
    const c1 = fleet.member('c1')
    expect(await seenBy(c1, 'web', questions)).toMatchObject({
      import: { type: 'Headless', clusters: 'c1', ready: 'True/Ready' },
      slices: ['c1 http:8080 10.1.0.1'],
      dns: { web: '10.1.0.1' },
    })
    // There is nobody to give it an address.
    expect(await seenBy(c1, 'shared', ['shared'])).toMatchObject({
      import: {
        type: 'ClusterSetIP',
        addresses: '',
        families: 'IPv4',
        clusters: 'c1',
        ready: 'False/Pending',
      },
      slices: ['c1 http:8080 10.1.0.1'],
    })
    expect(await fleet.member('c2').importOf('web')).toBeUndefined()
  })

  it('is the same with the hub back, in place, as if it had never been away', async () => {
    fleet = await memoryFleet({ members: ['c1', 'c2'] })
    await happens(cut('c1'))
    await happens(...exporting('c1@10', headless), ...exporting('c1@20', { name: 'shared' }))
    const before = await fleet.member('c1').importOf('shared')
    const { local } = fleet.member('c1')
    local.writes.length = 0
    await happens(restored('c1'))
    await pastRetries()
    expect(written('c1')).not.toContain('delete')
    expect(written('c1')).not.toContain('create')
    const after = await fleet.member('c1').importOf('shared')
    expect(after?.metadata.uid).toBe(before?.metadata.uid)
    const seen = await everything(fleet, ['web', 'shared'])
    fleet.end()
    fleet = await memoryFleet({ members: ['c1', 'c2'] })
    await happens(...exporting('c1@10', headless), ...exporting('c1@20', { name: 'shared' }))
    expect(seen).toEqual(await everything(fleet, ['web', 'shared']))
  })

  it('follows its Service and goes with its export, also over a restart', async () => {
    fleet = await memoryFleet({ members: ['c1'] })
    await happens(cut('c1'), ...exporting('c1@10', headless))
    fleet.member('c1').stop()
    fleet.member('c1').start()
    await happens(
      serving('c1', { ...headless, ports: 'http:81' }),
      sliceOf('c1', 'IPv4', { ports: 'http:81' }),
    )
    await pastRetries()
    expect((await seenBy(fleet.member('c1'), 'web', [])).import).toMatchObject({ ports: 'http:81/TCP' })
    await happens(unexport('c1'))
    expect(await seenBy(fleet.member('c1'), 'web', questions)).toMatchObject({
      import: undefined,
      slices: [],
      dns: { web: 'NXDOMAIN' },
    })
  })

  it('has none when the hub refuses it, before or after', async () => {
    fleet = await memoryFleet({ members: ['c1'] })
    await happens(cut('c1'), ...exporting('c1@10', headless))
    expect(await fleet.member('c1').importOf('web')).toBeDefined()
    const there = await fleet.hub.get(memberClusters, { name: 'c1' }, never)
    await fleet.hub.replace(
      memberClusters,
      { ...there, spec: { ...there.spec, namespaces: ['other'] } },
      {},
      never,
    )
    await happens(restored('c1'))
    await pastRetries()
    expect(await fleet.member('c1').importOf('web')).toBeUndefined()
    expect(await fleet.member('c1').conditionsOf('web')).toMatchObject({ Ready: 'False/Failed' })
  })

  it('leaves alone what the hub told of before, and what somebody else made', async () => {
    fleet = await memoryFleet({ members: ['c1', 'c2'] })
    await happens(...exporting('c2@10', { ports: 'http:80 more:81' }))
    const { local } = fleet.member('c1')
    const mine = {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceImport',
      metadata: { namespace: 'shop', name: 'mine' },
      spec: { type: 'Headless' as const, ports: [] },
    }
    await local.create(serviceImports, mine, never)
    await happens(cut('c1'))
    fleet.member('c1').stop()
    fleet.member('c1').start()
    await happens(...exporting('c1@20'), ...exporting('c1@20', { name: 'mine' }))
    await pastRetries()
    expect(await seenBy(fleet.member('c1'), 'web', [])).toMatchObject({
      import: { ports: 'http:80/TCP more:81/TCP', clusters: 'c2' },
    })
    expect((await fleet.member('c1').importOf('mine'))?.spec).toEqual(mine.spec)
    await happens(gone('c1', services), exportOf('c1@20'))
    expect((await seenBy(fleet.member('c1'), 'web', [])).import).toMatchObject({ clusters: 'c2' })
  })
})
