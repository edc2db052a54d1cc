import { describe, expect, it } from 'vitest'
import type { ExportedService } from '../../../../src/api/kinds/exported-service.ts'
import type { Condition } from '../../../../src/api/meta.ts'
import type { Collected } from '../../../../src/export/collect.ts'
import { type ConditionInput, desiredConditions } from '../../../../src/export/conditions.ts'

const spec: ExportedService['spec'] = {
  namespace: 'shop',
  service: 'web',
  exportedAt: '2026-01-02T03:00:00Z',
  exportGeneration: 3,
  definition: { type: 'ClusterSetIP', ports: [], ipFamilies: ['IPv4'] },
}
const valid: Collected = { valid: true, spec, dropped: [] }
const gone: Collected = { valid: false, reason: 'NoService', message: 'no Service web in namespace shop' }

const before = '2026-01-02T03:00:00Z'
const now = '2026-01-02T03:04:05Z'

const condition = (type: string, status: Condition['status'], reason: string, message = ''): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: before,
  observedGeneration: 3,
})

function held(
  conditions: readonly Condition[],
  overrides: { readonly observed?: number; readonly current?: boolean } = {},
): ConditionInput['hub'] {
  const { current = true, observed = 7 } = overrides
  return {
    state: 'held',
    current,
    exported: {
      apiVersion: 'hub.isthmus.dev/v1alpha1',
      kind: 'ExportedService',
      metadata: { name: 'shop.web', namespace: 'member-east', generation: 7 },
      spec,
      status: { observedGeneration: observed, conditions },
    },
  }
}

const absent: ConditionInput['hub'] = { state: 'absent', failure: undefined }
const ready = condition('Ready', 'True', 'Exported')
const agreed = condition('Conflict', 'False', 'NoConflicts')
const disputed = condition('Conflict', 'True', 'PortConflict', 'ports differ')

type Row = {
  readonly when: string
  readonly conditions?: readonly Condition[]
  readonly collected?: Collected
  readonly hub?: ConditionInput['hub']
  readonly said: readonly string[]
}

const rows: readonly Row[] = [
  {
    when: 'nothing was said yet and the hub has not answered',
    said: ['Valid True Valid', 'Ready False Pending waiting for the hub'],
  },
  {
    when: 'the hub has answered',
    hub: held([ready, agreed]),
    said: ['Valid True Valid', 'Ready True Exported', 'Conflict False NoConflicts'],
  },
  {
    when: 'the hub says that exports disagree',
    conditions: [condition('Valid', 'True', 'Valid'), ready, agreed],
    hub: held([ready, disputed]),
    said: ['Valid True Valid', 'Ready True Exported', 'Conflict True PortConflict ports differ'],
  },
  {
    when: 'the hub has answered to an earlier version',
    conditions: [ready, disputed],
    hub: held([condition('Ready', 'False', 'Failed', 'old'), agreed], { observed: 6 }),
    said: ['Ready True Exported', 'Conflict True PortConflict ports differ', 'Valid True Valid'],
  },
  {
    when: 'the hub holds another version than was sent last',
    conditions: [ready],
    hub: held([condition('Ready', 'False', 'Failed', 'old')], { current: false }),
    said: ['Ready True Exported', 'Valid True Valid'],
  },
  {
    when: 'the hub cannot be reached at the first export',
    hub: { state: 'absent', failure: { refused: false, message: 'hub: away' } },
    said: ['Valid True Valid', 'Ready False Failed hub: away'],
  },
  {
    when: 'the hub cannot be reached and other clusters have it',
    conditions: [ready, disputed],
    hub: { state: 'absent', failure: { refused: false, message: 'hub: away' } },
    said: ['Ready True Exported', 'Conflict True PortConflict ports differ', 'Valid True Valid'],
  },
  {
    when: 'the hub refuses it',
    conditions: [ready],
    hub: { state: 'absent', failure: { refused: true, message: 'hub: forbidden' } },
    said: ['Ready False Failed hub: forbidden', 'Valid True Valid'],
  },
  {
    when: 'it failed before and is tried again',
    conditions: [condition('Ready', 'False', 'Failed', 'hub: away')],
    said: ['Ready False Failed hub: away', 'Valid True Valid'],
  },
  {
    when: 'its Service goes',
    conditions: [condition('Valid', 'True', 'Valid'), ready, disputed],
    collected: gone,
    hub: held([ready, disputed]),
    said: [
      'Valid False NoService no Service web in namespace shop',
      'Ready False Pending no Service web in namespace shop',
    ],
  },
  {
    when: 'its Service is of a type that cannot be exported',
    collected: { valid: false, reason: 'InvalidServiceType', message: 'no' },
    said: ['Valid False InvalidServiceType no', 'Ready False Failed no'],
  },
  {
    when: 'somebody else’s condition is there',
    conditions: [condition('example.com/Audited', 'True', 'Yes')],
    hub: held([ready]),
    said: ['example.com/Audited True Yes', 'Valid True Valid', 'Ready True Exported'],
  },
  {
    when: 'labels were left out',
    collected: { valid: true, spec, dropped: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
    hub: held([ready]),
    said: ['Valid True Valid not exported: a; b; c; d; e; and 2 more', 'Ready True Exported'],
  },
]

function result({ conditions = [], collected = valid, hub = absent }: Omit<Row, 'when' | 'said'>) {
  return desiredConditions({ conditions, generation: 4, collected, hub, time: now })
}

describe('desiredConditions', () => {
  it.each(rows)('when $when', row => {
    const texts = result(row).map(({ type, status, reason, message }) =>
      `${type} ${status} ${reason} ${message}`.trim(),
    )
    expect(texts).toEqual(row.said)
  })

  it('moves the transition time only with the status', () => {
    const [valid0, ready0, conflict0] = result({
      conditions: [
        condition('Valid', 'True', 'Valid', 'old'),
        condition('Ready', 'False', 'Pending'),
        agreed,
      ],
      hub: held([ready, agreed]),
    })
    expect(valid0?.lastTransitionTime).toBe(before)
    expect(ready0?.lastTransitionTime).toBe(now)
    expect(conflict0?.lastTransitionTime).toBe(before)
  })

  it('observes this generation in what is known here, and the generation that was sent in what the hub says', () => {
    const byType = new Map(result({ hub: held([ready]) }).map(c => [c.type, c.observedGeneration]))
    expect(byType).toEqual(
      new Map([
        ['Valid', 4],
        ['Ready', 3],
      ]),
    )
  })

  it('answers the same list when nothing changes', () => {
    const once = result({ hub: held([ready, agreed]) })
    expect(result({ conditions: once, hub: held([ready, agreed]) })).toEqual(once)
  })
})
