import { describe, expect, it } from 'vitest'
import type { Condition } from '../../../../src/api/meta.ts'
import { occurrencesOf } from '../../../../src/export/events.ts'

const condition = (text: string): Condition => {
  const [type = '', status, reason = '', ...message] = text.split(' ')
  return {
    type,
    status: status === 'True' ? 'True' : 'False',
    reason,
    message: message.join(' '),
    lastTransitionTime: '2026-01-02T03:04:05Z',
  }
}

const rows: readonly {
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly told: readonly string[]
}[] = [
  { before: [], after: ['Valid True Valid', 'Ready False Pending waiting'], told: [] },
  { before: [], after: ['Valid False NoService none'], told: ['Warning NoService none'] },
  {
    before: ['Valid False NoService none'],
    after: ['Valid True Valid'],
    told: ['Normal Valid the Service can be exported'],
  },
  {
    before: ['Ready False Pending x'],
    after: ['Ready True Exported'],
    told: ['Normal Exported exported to the ClusterSet'],
  },
  {
    before: ['Ready False Pending x'],
    after: ['Ready False Failed away'],
    told: ['Warning ExportFailed away'],
  },
  {
    before: [],
    after: ['Valid False InvalidServiceType no endpoints', 'Ready False Failed no endpoints'],
    told: ['Warning InvalidServiceType no endpoints'],
  },
  {
    before: ['Valid False NoService none', 'Ready False Pending none'],
    after: ['Valid False InvalidServiceType no endpoints', 'Ready False Failed no endpoints'],
    told: ['Warning InvalidServiceType no endpoints'],
  },
  { before: ['Ready False Failed x'], after: ['Ready False Failed y'], told: [] },
  { before: [], after: ['Conflict False NoConflicts'], told: [] },
  { before: [], after: ['Conflict True PortConflict ports'], told: ['Warning Conflict ports'] },
  {
    before: ['Conflict True PortConflict ports'],
    after: ['Conflict True PortConflict,TypeConflict more'],
    told: ['Warning Conflict more'],
  },
  {
    before: ['Conflict True PortConflict ports'],
    after: ['Conflict False NoConflicts'],
    told: ['Normal NoConflicts the exports of all clusters agree'],
  },
  { before: [], after: ['Valid True Valid not exported: x'], told: ['Warning NotExported not exported: x'] },
  {
    before: ['Valid True Valid not exported: x'],
    after: ['Valid True Valid not exported: y'],
    told: ['Warning NotExported not exported: y'],
  },
  { before: ['Valid True Valid not exported: x'], after: ['Valid True Valid'], told: [] },
  { before: [], after: ['example.com/Other True Yes'], told: [] },
]

describe('occurrencesOf', () => {
  it.each(rows)('tells $told when $before becomes $after', ({ before, after, told }) => {
    const occurrences = occurrencesOf(before.map(condition), after.map(condition))
    expect(occurrences.map(({ type, reason, message }) => `${type} ${reason} ${message}`)).toEqual(told)
  })

  it('tells nothing when nothing changes', () => {
    const all = [
      'Valid True Valid not exported: x',
      'Ready True Exported',
      'Conflict True PortConflict p',
    ].map(condition)
    expect(occurrencesOf(all, all)).toEqual([])
  })
})
