// What users of other implementations reported of much at once and of sizes: each test is named after the kind of fault.
import { afterEach, describe, expect, it } from 'vitest'
import { never } from '../../src/kernel/abort.ts'
import {
  exportedServices,
  exportedSlices,
  type FleetOptions,
  type MemoryFleet,
  memoryFleet,
  serviceExports,
  slices,
} from '../support/memory-fleet.ts'
import { exporting, gone } from './acts.ts'
import { exportsSeen, seenBy } from './seen.ts'

let fleet: MemoryFleet

afterEach(() => fleet.end())

describe('much at once', () => {
  it.each<[string, FleetOptions]>([
    ['a hub that is overloaded', {}],
    ['a hub that is spared by the bound of the agent', { writesPerSecond: 20 }],
  ])('B59: hundreds of exports that come and go at once, at %s', async (_, options) => {
    fleet = await memoryFleet({ members: ['c1', 'c2'], ...options })
    const c1 = fleet.member('c1')
    c1.hub.limit(20, fleet.clock)
    const names = Array.from({ length: 150 }, (_each, at) => `many${at}`)
    const acts = names.flatMap(name => exporting('c1@10', { spec: { clusterIP: 'None' }, name }))
    for (const act of acts) await act(fleet)
    await fleet.clock.advance(300_000)
    await fleet.settle()
    expect((await fleet.hub.list(exportedServices, {}, never)).items).toHaveLength(150)
    expect((await fleet.hub.list(exportedSlices, {}, never)).items).toHaveLength(150)
    for (const name of ['many0', 'many149']) {
      expect((await seenBy(fleet.member('c2'), name, [name])).dns).toEqual({ [name]: '10.1.0.1' })
      expect(await exportsSeen(fleet, name)).toEqual({ c1: 'True/Valid True/Exported False/NoConflicts' })
    }
    const failures = fleet.log.lines.filter(({ message }) => message === 'reconcile failed')
    expect(failures).toEqual([])
    for (const name of names) await gone('c1', serviceExports, name)(fleet)
    await fleet.clock.advance(300_000)
    await fleet.settle()
    expect((await fleet.hub.list(exportedServices, {}, never)).items).toEqual([])
    expect((await fleet.hub.list(exportedSlices, {}, never)).items).toEqual([])
    expect((await fleet.member('c2').local.list(slices, {}, never)).items).toEqual([])
  })
})

describe('sizes', () => {
  it('B40: more ports than 100, and names of ports that are longer than those of containers', async () => {
    fleet = await memoryFleet({ members: ['c1', 'c2'] })
    const ports = Array.from({ length: 404 }, (_, at) => `p${at}:${1_000 + at}`)
    const what = { ports: ['http-legacy-discovery:80', ...ports].join(' ') }
    for (const act of exporting('c1@10', what)) await act(fleet)
    await fleet.settle()
    expect(await exportsSeen(fleet, 'web')).toEqual({ c1: 'True/Valid True/Exported False/NoConflicts' })
    const c2 = fleet.member('c2')
    expect((await c2.importOf('web'))?.spec?.ports).toHaveLength(405)
    const [slice, ...others] = await c2.slicesOf('web')
    expect(others).toEqual([])
    expect(slice?.ports).toHaveLength(405)
    expect(slice?.ports?.[0]).toMatchObject({ name: 'http-legacy-discovery', port: 8_080 })
    const srv = await seenBy(c2, 'web', ['_http-legacy-discovery._tcp.web SRV', '_p403._tcp.web SRV'])
    expect(Object.values(srv.dns)).toEqual(['0 100 80 web', '0 100 1403 web'])
    expect(fleet.log.lines.filter(({ message }) => message === 'reconcile failed')).toEqual([])
  })
})
