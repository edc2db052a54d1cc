import { describe, expect, it } from 'vitest'
import type { ExportedPort } from '../../../../src/api/kinds/exported-service.ts'
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

const withApp = (list: readonly ExportedPort[], appProtocol: string): readonly ExportedPort[] =>
  list.map(port => ({ ...port, appProtocol }))

function withoutPolicy(from: Contribution): Contribution {
  const { internalTrafficPolicy: _policy, ...service } = from.service
  return { ...from, service }
}

const clientIp = (timeoutSeconds: number) => ({
  sessionAffinity: 'ClientIP',
  sessionAffinityConfig: { clientIP: { timeoutSeconds } },
})

// The numbers are those of the cases in section 10 of the MCS specification notes, B-numbers those of user reports.
const rows: readonly Row[] = [
  {
    case: '1: one export',
    exports: [contribution('c1@10')],
    merged: {
      type: 'ClusterSetIP',
      ports: 'http:80/TCP',
      ipFamilies: ['IPv4'],
      clusters: 'c1',
      conflicts: '',
    },
  },
  {
    case: '2: two exports that agree',
    exports: [contribution('c1@10'), contribution('c2@20')],
    merged: { type: 'ClusterSetIP', ports: 'http:80/TCP', clusters: 'c1 c2', conflicts: '' },
  },
  {
    case: '4: a headless export',
    exports: [contribution('c1@10', { type: 'Headless' })],
    merged: { type: 'Headless', ipFamilies: ['IPv4'], conflicts: '' },
  },
  {
    case: '5: ClusterIP is older than headless',
    exports: [contribution('c1@10'), contribution('c2@20', { type: 'Headless' })],
    merged: { type: 'ClusterSetIP', clusters: 'c1 c2', conflicts: 'TypeConflict' },
  },
  {
    case: '7: the older export of 5 leaves',
    exports: [contribution('c2@20', { type: 'Headless' })],
    merged: { type: 'Headless', clusters: 'c2', conflicts: '' },
  },
  {
    case: '8: a tie goes to the smaller cluster id',
    exports: [contribution('c2@10', { type: 'Headless' }), contribution('c1@10')],
    merged: { type: 'ClusterSetIP', conflicts: 'TypeConflict' },
  },
  {
    case: '17: one cluster has a port more',
    exports: [contribution('c1@10'), contribution('c2@20', { ports: ports('http:80 metrics:9090') })],
    merged: { ports: 'http:80/TCP metrics:9090/TCP', conflicts: 'PortConflict' },
  },
  {
    case: '19: the same socket under another name',
    exports: [contribution('c1@10'), contribution('c2@20', { ports: ports('web:80') })],
    merged: { ports: 'http:80/TCP', conflicts: 'PortConflict' },
  },
  {
    case: '20: the same number with another protocol and name',
    exports: [contribution('c1@10'), contribution('c2@20', { ports: ports('dns:80/UDP') })],
    merged: { ports: 'http:80/TCP dns:80/UDP', conflicts: 'PortConflict' },
  },
  {
    case: '22: only one names an application protocol',
    exports: [contribution('c1@10', { ports: withApp(ports('http:80'), 'http') }), contribution('c2@20')],
    merged: { ports: 'http:80/TCP_(http)', conflicts: 'PortConflict' },
  },
  {
    case: '23: the empty name is a name',
    exports: [contribution('c1@10', { ports: ports(':80') }), contribution('c2@20', { ports: ports(':81') })],
    merged: { ports: '80/TCP', conflicts: 'PortConflict' },
  },
  {
    case: '25: one port hits the socket, the other the name',
    exports: [
      contribution('c1@10', { ports: ports('a:80') }),
      contribution('c2@20', { ports: ports('b:80 a:81') }),
    ],
    merged: { ports: 'a:80/TCP', conflicts: 'PortConflict' },
  },
  {
    case: '26: the oldest of three wins',
    exports: [
      contribution('c1@30', { ports: ports('http:80') }),
      contribution('c2@10', { ports: ports('http:81') }),
      contribution('c3@20', { ports: ports('http:82') }),
    ],
    merged: { ports: 'http:81/TCP', clusters: 'c1 c2 c3', conflicts: 'PortConflict' },
  },
  {
    case: '28: affinity timeouts differ',
    exports: [contribution('c1@10', clientIp(10)), contribution('c2@20', clientIp(20))],
    merged: { ...clientIp(10), conflicts: 'SessionAffinityConfigConflict' },
  },
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
    case: '29: no internal traffic policy means Cluster',
    exports: [withoutPolicy(contribution('c1@10')), contribution('c2@20')],
    merged: { internalTrafficPolicy: undefined, conflicts: '' },
  },
  {
    case: 'internal traffic policies differ',
    exports: [contribution('c1@10', { internalTrafficPolicy: 'Local' }), contribution('c2@20')],
    merged: { internalTrafficPolicy: 'Local', conflicts: 'InternalTrafficPolicyConflict' },
  },
  {
    case: '31: no traffic distribution differs from any',
    exports: [contribution('c1@10'), contribution('c2@20', { trafficDistribution: 'PreferClose' })],
    merged: { trafficDistribution: undefined, conflicts: 'TrafficDistributionConflict' },
  },
  {
    case: '32: labels are taken as a whole',
    exports: [
      contribution('c1@10', { labels: { a: '1' } }),
      contribution('c2@20', { labels: { a: '1', b: '2' } }),
    ],
    merged: { labels: { a: '1' }, conflicts: 'LabelsConflict' },
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
    case: '37: one cluster has a family less',
    exports: [contribution('c1@10', { ipFamilies: ['IPv4', 'IPv6'] }), contribution('c2@20')],
    merged: { ipFamilies: ['IPv4'], conflicts: '' },
  },
  {
    case: '38: the order of families is the oldest export’s',
    exports: [
      contribution('c1@10', { ipFamilies: ['IPv6', 'IPv4'] }),
      contribution('c2@20', { ipFamilies: ['IPv4', 'IPv6'] }),
    ],
    merged: { ipFamilies: ['IPv6', 'IPv4'], conflicts: '' },
  },
  {
    case: 'B46: families without one in common',
    exports: [contribution('c1@10'), contribution('c2@20', { ipFamilies: ['IPv6'] })],
    merged: { ipFamilies: ['IPv4'], conflicts: 'IPFamilyConflict' },
  },
  {
    case: '44: the older of two that disagree leaves',
    exports: [contribution('c2@20', { ports: ports('http:8080') })],
    merged: { ports: 'http:8080/TCP', conflicts: '' },
  },
  {
    case: '52: a headless Service without ports',
    exports: [contribution('c1@10', { type: 'Headless', ports: [] })],
    merged: { type: 'Headless', ports: '', conflicts: '' },
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
    merged: { consumers: ['c2', 'c3'] },
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
