// The numbered cases of the MCS specification notes, on the whole flow: exports of several clusters in, imports, slices,
// conditions and DNS answers out.
import { describe, expect, it } from 'vitest'
import { never } from '../../src/kernel/abort.ts'
import { serviceExports } from '../support/memory-fleet.ts'
import { serving, sliceOf } from './acts.ts'
import { cases, elsewhere, numberOf } from './cases.ts'
import { runCase, withCase } from './run.ts'
import { exportsSeen, seenBy } from './seen.ts'

const numbers =
  '1 2 4 5 7 8 10 11 13 14 16 17 19 20 22 23 25 26 28 29 31 32 34 35 37 38 40 41 43 44 46 47 49 50 52 53 55 56 58 59 61 62 64 65'

describe('the flow, case by case', () => {
  it.each(cases)('$title', async row => {
    const { service = 'web' } = row
    await withCase(row, undefined, async ({ after, before, fleet }) => {
      for (const member of fleet.members) {
        const expected = { ...row.seen, ...row.sees?.[member.id] }
        const seen = await seenBy(member, service, Object.keys(expected.dns))
        expect({ in: member.id, ...seen }).toEqual({ in: member.id, ...expected })
        for (const field of row.keeps ?? [])
          expect(after[member.id]?.[field]).toEqual(before[member.id]?.[field])
        const annotations = (await member.importOf(service))?.metadata.annotations ?? {}
        expect(annotations).toMatchObject(row.stays?.[member.id] ?? {})
      }
      expect(await exportsSeen(fleet, service)).toEqual(row.exports)
    })
  })

  it('has every number', () => {
    const told = [...cases.map(numberOf), ...Object.keys(elsewhere)]
    expect(new Set(numbers.split(' '))).toEqual(new Set(told.filter(number => number !== '')))
  })

  it('43: moves the transition time of a conflict that ends', async () => {
    const row = cases.find(({ title }) => title.startsWith('43:'))
    if (row === undefined) throw new Error('no case 43')
    const { fleet } = await runCase({ ...row, phases: row.phases.slice(0, 1) })
    const conflictOf = async () => {
      const found = await fleet
        .member('c1')
        .local.get(serviceExports, { namespace: 'shop', name: 'web' }, never)
      return found.status?.conditions?.find(({ type }) => type === 'Conflict')
    }
    const before = await conflictOf()
    await fleet.clock.advance(10_000)
    for (const act of [serving('c2'), sliceOf('c2', 'IPv4')]) await act(fleet)
    await fleet.settle()
    const after = await conflictOf()
    expect([before?.status, after?.status]).toEqual(['True', 'False'])
    expect(after?.lastTransitionTime).not.toBe(before?.lastTransitionTime)
    fleet.end()
  })
})
