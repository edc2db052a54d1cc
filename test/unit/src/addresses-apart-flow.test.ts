import { afterEach, describe, expect, it } from 'vitest'
import { never } from '../../../src/kernel/abort.ts'
import {
  type MemoryFleet,
  memberClusters,
  memoryFleet,
  serviceExports,
  textOf,
} from '../../support/memory-fleet.ts'
import { exportWeb } from '../../support/shop.ts'

let fleet: MemoryFleet

afterEach(() => fleet.end())

const web = { namespace: 'shop', name: 'web' }

describe('ClusterSetIPs', () => {
  it('that are addresses of an importing cluster as well say so there, and nowhere else', async () => {
    const networks = { c2: { services: ['10.96.0.0/16'], pods: ['10.7.0.0/16'] } }
    fleet = await memoryFleet({ cidrs: ['10.7.0.0/24'], networks })
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const saysOf = async (id: string) => (await fleet.member(id).importOf('web'))?.status?.conditions
    expect(await saysOf('c1')).toMatchObject([{ status: 'True', reason: 'Ready', message: '' }])
    expect(await saysOf('c2')).toMatchObject([
      {
        status: 'True',
        reason: 'Ready',
        message: expect.stringMatching(
          /^10\.7\.0\.\d+ is an address of pods of this cluster as well, which has 10\.7\.0\.0\/16$/,
        ),
      },
    ])
    await fleet.clock.advance(20_000)
    const told = fleet.log.lines.filter(({ message }) => message === 'a ClusterSetIP clashes')
    expect(told).toHaveLength(1)
    const member = await fleet.hub.get(memberClusters, { name: 'c2' }, never)
    expect(textOf(member.status?.conditions).AddressesApart).toBe('False/Overlap')
  })

  it('that turn out to be addresses of an importing cluster later say so then, and no more when they are not', async () => {
    fleet = await memoryFleet({ cidrs: ['10.7.0.0/24'] })
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const messageOf = async () =>
      (await fleet.member('c2').importOf('web'))?.status?.conditions?.map(({ message }) => message)
    const told = () => fleet.log.lines.filter(({ message }) => message === 'a ClusterSetIP clashes').length
    expect(await messageOf()).toEqual([''])
    fleet.member('c2').learn({ services: ['10.7.0.0/16'], pods: [] })
    await fleet.settle()
    expect(await messageOf()).toEqual([expect.stringContaining('is an address of Services of this cluster')])
    expect(told()).toBe(1)
    // A service that comes back is news again.
    await fleet.member('c1').remove(serviceExports, web)
    await fleet.settle()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    expect(told()).toBe(2)
    fleet.member('c2').learn({ services: [], pods: [] })
    await fleet.settle()
    expect(await messageOf()).toEqual([''])
  })
})
