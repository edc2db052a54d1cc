import { describe, expect, it } from 'vitest'
import type { Contribution } from '../../../../src/contract.ts'
import { forecast, foreseenOf } from '../../../../src/merge/forecast.ts'
import { contribution, ports } from '../../../support/contributions.ts'

const since = (second: number): string => `1970-01-01T00:00:${String(second).padStart(2, '0')}Z`

const east = contribution('east@10')
const clientIp = (timeoutSeconds: number) => ({
  sessionAffinity: 'ClientIP',
  sessionAffinityConfig: { clientIP: { timeoutSeconds } },
})

/** Of a new export of this cluster, unless it had one `before`. */
function told(
  others: readonly Contribution[],
  after: Contribution,
  before?: Contribution,
): readonly string[] {
  return forecast({ others: others.map(foreseenOf), maps: [], before, after })
}

const eastWins = `the older export wins, and that of cluster east counts since ${since(10)}`

describe('the forecast of an export that is the younger one', () => {
  it('is silent without other exports, and when all agree', () => {
    expect(told([], contribution('west@20'))).toEqual([])
    expect(told([east], contribution('west@20'))).toEqual([])
  })

  it.each([
    [
      'the type',
      { type: 'Headless' as const },
      'type: ClusterSetIP of cluster east is used, not Headless of',
    ],
    [
      'the affinity',
      { sessionAffinity: 'ClientIP' },
      'sessionAffinity: None of cluster east is used, not ClientIP of',
    ],
    [
      'the policy',
      { internalTrafficPolicy: 'Local' },
      'internalTrafficPolicy: Cluster of cluster east is used, not Local of',
    ],
    [
      'the distribution',
      { trafficDistribution: 'PreferClose' },
      'trafficDistribution: no value of cluster east is used, not PreferClose of',
    ],
    [
      'the families',
      { ipFamilies: ['IPv6' as const] },
      'ipFamilies: IPv4 of cluster east is used, not IPv6 of',
    ],
    ['the labels', { labels: { a: '1' } }, 'exportedLabels: {} of cluster east is used, not {"a":"1"} of'],
    [
      'the annotations',
      { annotations: { a: 'tab\there', b: '\u007f' } },
      'exportedAnnotations: {} of cluster east is used, not {"a":"tab\\there","b":"?"} of',
    ],
  ])('says what is used instead of %s, of which cluster and since when', (_, overrides, sentence) => {
    expect(told([east], contribution('west@20', overrides))).toEqual([
      `${sentence} this cluster: ${eastWins}`,
    ])
  })

  it('tells all that differs, in the order of the condition', () => {
    const others = [contribution('east@10', clientIp(10))]
    const after = contribution('west@20', { ...clientIp(20), type: 'Headless', ports: ports('http:81') })
    expect(told(others, after).map(text => text.slice(0, text.indexOf(':')))).toEqual([
      'ports',
      'type',
      'sessionAffinityConfig.clientIP.timeoutSeconds',
    ])
  })

  it('cuts values that are long', () => {
    const [text] = told([east], contribution('west@20', { labels: { a: 'x'.repeat(10_000) } }))
    expect(text?.length).toBeLessThan(400)
  })

  it('says nothing of times while the hub has not told when the winner was accepted', () => {
    const unknown = { acceptedMs: Number.MAX_SAFE_INTEGER }
    const after = contribution('west@20', { ...unknown, type: 'Headless' })
    expect(told([contribution('east@10', unknown)], after)).toEqual([
      'type: ClusterSetIP of cluster east is used, not Headless of this cluster: the older export wins',
    ])
  })

  it('does not repeat a conflict of others in which it takes no part', () => {
    const others = [
      east,
      contribution('north@11', { sessionAffinity: 'ClientIP', ports: ports('http:80 b:81') }),
    ]
    expect(told(others, contribution('west@20', { ports: ports('http:80 b:81') }))).toEqual([])
  })
})

describe('the forecast of ports', () => {
  it.each([
    [
      'a number',
      'http:80',
      'http:8080',
      [`http:80/TCP of cluster east is used, not http:8080/TCP of this cluster`],
    ],
    [
      'a protocol',
      'http:80',
      'http:80/UDP',
      [`http:80/TCP of cluster east is used, not http:80/UDP of this cluster`],
    ],
    ['a name', 'http:80', 'web:80', [`http:80/TCP of cluster east is used, not web:80/TCP of this cluster`]],
    ['ports without names', ':80', ':81', ['80/TCP of cluster east is used, not 81/TCP of this cluster']],
  ])('names both when %s differs', (_, theirs, own, sentences) => {
    const others = [contribution('east@10', { ports: ports(theirs) })]
    expect(told(others, contribution('west@20', { ports: ports(own) }))).toEqual(
      sentences.map(text => `ports: ${text}: ${eastWins}`),
    )
  })

  it('names both when the application protocol differs', () => {
    const own = ports('http:80').map(port => ({ ...port, appProtocol: 'kubernetes.io/h2c' }))
    expect(told([east], contribution('west@20', { ports: own }))).toEqual([
      `ports: http:80/TCP of cluster east is used, not http:80/TCP (kubernetes.io/h2c) of this cluster: ${eastWins}`,
    ])
  })

  it('says which ports this cluster lacks, and which it has alone', () => {
    const others = [
      contribution('east@10', { ports: ports('http:80 admin:90') }),
      contribution('north@11', { ports: ports('http:80 admin:90') }),
    ]
    expect(told(others, contribution('west@20', { ports: ports('http:80 metrics:91') }))).toEqual([
      'ports: admin:90/TCP of cluster east is not exported by this cluster: its traffic does not go there',
      'ports: metrics:91/TCP of this cluster is not exported by cluster east and 1 more: its traffic does not go there',
    ])
  })

  it('says that it adds a port, though it loses nothing', () => {
    expect(told([east], contribution('west@20', { ports: ports('http:80 metrics:91') }))).toEqual([
      'ports: metrics:91/TCP of this cluster is not exported by cluster east: its traffic does not go there',
    ])
  })

  it('leaves out what others dispute among themselves', () => {
    const theirs = (east: string, north: string) => [
      contribution('east@10', { ports: ports(east) }),
      contribution('north@11', { ports: ports(north) }),
    ]
    expect(told(theirs('http:80', 'http:81'), contribution('west@20', { ports: ports('http:82') }))).toEqual([
      `ports: http:80/TCP of cluster east is used, not http:82/TCP of this cluster: ${eastWins}`,
    ])
    expect(told(theirs('a:80 b:90', 'a:80'), contribution('west@20', { ports: ports('a:80 b:91') }))).toEqual(
      [`ports: b:90/TCP of cluster east is used, not b:91/TCP of this cluster: ${eastWins}`],
    )
  })

  it('counts what would be too many sentences', () => {
    const many = ports(Array.from({ length: 50 }, (_, i) => `p${i}:${1000 + i}`).join(' '))
    const sentences = told([east], contribution('west@20', { ports: many }))
    expect(sentences).toHaveLength(7)
    expect(sentences.at(-1)).toBe('ports: 45 more differ')
  })
})

describe('the forecast of a change', () => {
  const others = [contribution('north@20'), contribution('west@30')]

  it('is silent for the oldest export when it brings no conflict', () => {
    const differing = [contribution('north@20', { type: 'Headless' })]
    expect(told(differing, east, east)).toEqual([])
    expect(told(differing, contribution('east@10', { ports: ports('http:80') }), east)).toEqual([])
  })

  it('tells the oldest export what it brings upon the others', () => {
    expect(told(others, contribution('east@10', { type: 'Headless' }), east)).toEqual([
      `type: Headless of this cluster is used, not ClusterSetIP of cluster north and 1 more: the older export wins, and that of this cluster counts since ${since(10)}`,
    ])
    expect(told(others, contribution('east@10', { ports: ports('http:81') }), east)).toEqual(
      ['north', 'west'].map(
        cluster =>
          `ports: http:81/TCP of this cluster is used, not http:80/TCP of cluster ${cluster}: the older export wins, and that of this cluster counts since ${since(10)}`,
      ),
    )
  })

  it('tells when an export in the middle leaves a younger one without a family', () => {
    const dual = { ipFamilies: ['IPv4' as const, 'IPv6' as const] }
    const all = [contribution('east@10', dual), contribution('west@30', { ipFamilies: ['IPv4'] })]
    const before = contribution('north@20', dual)
    expect(told(all, contribution('north@20', { ipFamilies: ['IPv6'] }), before)).toEqual([
      `ipFamilies: IPv6 of cluster east is used, not IPv4 of cluster west: ${eastWins}`,
    ])
  })

  it('is silent when a change ends the conflict', () => {
    const before = contribution('west@20', { type: 'Headless' })
    expect(told([east], contribution('west@20'), before)).toEqual([])
  })
})

describe('the forecast of labels and annotations', () => {
  const one = { v: '1' }
  const two = { v: '2' }

  it('is right at each step of a roll-out', () => {
    const old = contribution('east@10', { labels: one })
    const young = contribution('west@20', { labels: two })
    expect(told([old], young, contribution('west@20', { labels: one }))).toEqual([
      `exportedLabels: {"v":"1"} of cluster east is used, not {"v":"2"} of this cluster: ${eastWins}`,
    ])
    expect(told([young], contribution('east@10', { labels: two }), old)).toEqual([])
  })

  it.each(['labels', 'annotations'] as const)('names %s only of whom they are known', map => {
    const field = map === 'labels' ? 'exportedLabels' : 'exportedAnnotations'
    const others = [contribution('north@20', { [map]: one }), contribution('west@30', { [map]: one })]
    const before = contribution('east@10', { [map]: one })
    const wins = `the older export wins, and that of this cluster counts since ${since(10)}`
    expect(told(others, contribution('east@10', { [map]: two }), before)).toEqual([
      `${field}: {"v":"2"} of this cluster is used, not {"v":"1"} of cluster north and 1 more: ${wins}`,
    ])
    expect(told(others, contribution('east@10', { [map]: two }))).toEqual([
      `${field}: {"v":"2"} of this cluster is used, not the values of cluster north and 1 more: ${wins}`,
    ])
    expect(told(others, contribution('south@40', { [map]: two }))).toEqual([
      `${field}: the value of cluster north is used, not {"v":"2"} of this cluster: the older export wins, and that of cluster north counts since ${since(20)}`,
    ])
  })

  it('names no value of losers that differ among themselves', () => {
    const others = [
      { ...foreseenOf(contribution('north@20')), labels: undefined },
      foreseenOf(contribution('south@30', { labels: one })),
      foreseenOf(contribution('west@40', { labels: two })),
    ]
    const after = contribution('east@10', { labels: { v: '3' } })
    const [text] = forecast({ others, maps: [one, two], before: undefined, after })
    expect(text).toContain(' of this cluster is used, not the values of cluster south and 1 more: ')
  })

  it('claims nothing of clusters of which the hub does not tell them', () => {
    const others = [{ ...foreseenOf(east), labels: undefined, annotations: undefined }]
    const after = contribution('west@20', { labels: one, annotations: two })
    expect(forecast({ others, maps: [one, two, {}], before: undefined, after })).toEqual([])
    const older = contribution('west@1', { labels: one, annotations: two })
    expect(forecast({ others, maps: [one, two, {}], before: undefined, after: older })).toEqual([])
  })
})

describe('the forecast of a conflict that there is already', () => {
  it('tells the oldest export of those upon whom it brings it, and not of the others', () => {
    const others = [
      contribution('north@20', { trafficDistribution: 'PreferClose' }),
      contribution('west@30', { trafficDistribution: 'PreferSameNode' }),
    ]
    const before = contribution('east@10', { trafficDistribution: 'PreferClose' })
    const after = contribution('east@10', { trafficDistribution: 'PreferSameNode' })
    expect(told(others, after, before)).toEqual([
      `trafficDistribution: PreferSameNode of this cluster is used, not PreferClose of cluster north: the older export wins, and that of this cluster counts since ${since(10)}`,
    ])
  })
})
