import { describe, expect, it } from 'vitest'
import type { Contribution, Merged } from '../../../../src/contract.ts'
import { merge } from '../../../../src/merge/merge.ts'
import { portText } from '../../../../src/merge/ports.ts'
import { contribution, ports } from '../../../support/contributions.ts'

type Row = {
  readonly case: string
  readonly exports: readonly Contribution[]
  readonly merged: Partial<Omit<Merged, 'ports' | 'clusters' | 'conflicts'>> & {
    readonly ports?: string
    readonly clusters?: string
    readonly conflicts?: string
  }
}

const clientIp = (timeoutSeconds: number) => ({
  sessionAffinity: 'ClientIP',
  sessionAffinityConfig: { clientIP: { timeoutSeconds } },
})

// The numbered cases are in test/cases. 11-numbers are recommended readings of the MCS specification notes, B-numbers user reports.
const rows: readonly Row[] = [
  {
    case: 'affinities differ, and so do their timeouts',
    exports: [contribution('c1@10'), contribution('c2@20', clientIp(20))],
    merged: {
      sessionAffinity: 'None',
      sessionAffinityConfig: undefined,
      conflicts: 'SessionAffinityConflict,SessionAffinityConfigConflict',
    },
  },
  {
    case: 'internal traffic policies differ',
    exports: [contribution('c1@10', { internalTrafficPolicy: 'Local' }), contribution('c2@20')],
    merged: { internalTrafficPolicy: 'Local', conflicts: 'InternalTrafficPolicyConflict' },
  },
  {
    case: 'the order of labels does not matter',
    exports: [
      contribution('c1@10', { labels: { a: '1', b: '2' } }),
      contribution('c2@20', { labels: { b: '2', a: '1' } }),
    ],
    merged: { labels: { a: '1', b: '2' }, conflicts: '' },
  },
  {
    case: 'annotations are taken as a whole',
    exports: [contribution('c1@10'), contribution('c2@20', { annotations: { x: '1' } })],
    merged: { annotations: {}, conflicts: 'AnnotationsConflict' },
  },
  {
    case: 'B46: families without one in common',
    exports: [contribution('c1@10'), contribution('c2@20', { ipFamilies: ['IPv6'] })],
    merged: { ipFamilies: ['IPv4'], conflicts: 'IPFamilyConflict' },
  },
  {
    case: '11.7: the order of ports does not matter',
    exports: [
      contribution('c1@10', { ports: ports('http:80 metrics:9090') }),
      contribution('c2@20', { ports: ports('metrics:9090 http:80') }),
    ],
    merged: { ports: 'http:80/TCP metrics:9090/TCP', conflicts: '' },
  },
  {
    case: 'B34: another number under the same name',
    exports: [
      contribution('c1@10', { ports: ports('tcp:42') }),
      contribution('c2@20', { ports: ports('tcp:4242') }),
    ],
    merged: { ports: 'tcp:42/TCP', conflicts: 'PortConflict' },
  },
  {
    case: 'B34: one socket over both protocols',
    exports: [contribution('c1@10', { ports: ports('dns:53 dns-udp:53/UDP') })],
    merged: { ports: 'dns:53/TCP dns-udp:53/UDP', conflicts: '' },
  },
  {
    case: 'B35: an unnamed port and the same one with a name',
    exports: [contribution('c1@10', { ports: ports(':80') }), contribution('c2@20')],
    merged: { ports: '80/TCP', conflicts: 'PortConflict' },
  },
  {
    case: '11.5: several conflicts, in canonical order',
    exports: [
      contribution('c1@10'),
      contribution('c2@20', {
        type: 'Headless',
        ports: ports('x:1'),
        ipFamilies: ['IPv6'],
        labels: { l: '1' },
        annotations: { a: '1' },
        internalTrafficPolicy: 'Local',
        trafficDistribution: 'PreferClose',
        ...clientIp(5),
      }),
    ],
    merged: {
      conflicts:
        'PortConflict,IPFamilyConflict,TypeConflict,SessionAffinityConflict,SessionAffinityConfigConflict,AnnotationsConflict,LabelsConflict,InternalTrafficPolicyConflict,TrafficDistributionConflict',
    },
  },
  {
    case: 'B101: a clock that claims an age from before the cluster was accepted does not win',
    exports: [
      contribution('c1@50', { ports: ports('http:80') }),
      contribution('liar@1', { ports: ports('http:666'), acceptedMs: 60_000 }),
    ],
    merged: { ports: 'http:80/TCP', conflicts: 'PortConflict' },
  },
  {
    case: 'whoever may import one export may import the service',
    exports: [
      contribution('c1@10', { consumers: ['c3'] }),
      contribution('c2@20', { consumers: ['c2', 'c3'] }),
    ],
    merged: { consumers: ['c1', 'c2', 'c3'] },
  },
  {
    case: 'one export for all makes the service one for all',
    exports: [contribution('c1@10', { consumers: ['c3'] }), contribution('c2@20')],
    merged: { consumers: undefined },
  },
]

function shown(merged: Merged | undefined): unknown {
  return (
    merged && {
      ...merged,
      ports: merged.ports.map(port => portText(port).replaceAll(' ', '_')).join(' '),
      clusters: merged.clusters.map(c => c.cluster).join(' '),
      conflicts: merged.conflicts.map(c => c.reason).join(','),
    }
  )
}

describe('merge', () => {
  it.each(rows)('case $case', ({ exports, merged }) => {
    expect(shown(merge(exports))).toMatchObject(merged)
    expect(merge([...exports].reverse())).toEqual(merge(exports))
  })

  it('is nothing without exports', () => {
    expect(merge([])).toBeUndefined()
  })

  it('names the field, the value, the winner and how many differ', () => {
    const merged = merge([
      contribution('east@10', { trafficDistribution: 'PreferClose' }),
      contribution('west@20'),
      contribution('north@30', { trafficDistribution: 'PreferClose', ports: ports('http:81') }),
    ])
    expect(merged?.conflicts).toMatchInlineSnapshot(`
      [
        {
          "message": "ports: using http:80/TCP, where older exports come first (east is the oldest); 1 of 3 clusters differ",
          "reason": "PortConflict",
        },
        {
          "message": "trafficDistribution: using PreferClose of the oldest export (east); 1 of 3 clusters differ",
          "reason": "TrafficDistributionConflict",
        },
      ]
    `)
  })

  it('keeps messages short however long the values are', () => {
    const annotations = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`key-${i}`, 'x'.repeat(100)]),
    )
    const merged = merge([contribution('c1@10', { annotations }), contribution('c2@20')])
    expect(merged?.conflicts.map(c => c.message).join('; ').length).toBeLessThan(1_000)
  })
})
