import { describe, expect, it } from 'vitest'
import { exportsOf, exportsText } from '../../../../src/api/exports-annotation.ts'
import type { Contributor } from '../../../../src/api/kinds/cluster-set-service.ts'
import { wellKnown } from '../../../../src/api/well-known.ts'

const east: Contributor = {
  cluster: 'east',
  since: '2026-01-02T03:04:05Z',
  ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
  definition: { type: 'ClusterSetIP', ipFamilies: ['IPv4'], trafficDistribution: 'PreferClose' },
  labelsDigest: '0123456789abcdef',
  annotationsDigest: 'fedcba9876543210',
}
const west: Contributor = { cluster: 'west', ports: [], definition: { type: 'Headless', ipFamilies: [] } }

const read = (text: string | undefined) =>
  exportsOf({ name: 'web', ...(text === undefined ? {} : { annotations: { [wellKnown.exports]: text } }) })

describe('the annotation that tells of exports', () => {
  it('gives back what was written, but for taints', () => {
    expect(read(exportsText([{ ...east, taint: 'NoImport' }, west]))).toEqual([east, west])
  })

  it('is not written when the hub does not tell what a cluster exports', () => {
    expect(exportsText([east, { cluster: 'north', ports: [] }])).toBeUndefined()
  })

  it('is not written when it would be too long', () => {
    const ports = Array.from({ length: 1000 }, (_, i) => ({
      name: `p${i}`,
      protocol: 'TCP' as const,
      port: i + 1,
    }))
    expect(exportsText([{ ...east, ports }])).toBeDefined()
    expect(
      exportsText([
        { ...east, ports },
        { ...west, ports },
      ]),
    ).toBeUndefined()
  })

  it.each([
    ['nothing', undefined],
    ['no JSON', '['],
    ['no list', '{}'],
    ['null', 'null'],
    ['an entry without ports', '[{"cluster":"east"}]'],
    [
      'an entry of another type',
      '[{"cluster":"east","ports":[],"definition":{"type":"Odd","ipFamilies":[]}}]',
    ],
    ['a digest that is none', '[{"cluster":"east","ports":[],"labelsDigest":1}]'],
    ['more than is ever written', `[${' '.repeat(70_000)}]`],
  ])('tells nothing when it holds %s', (_, text) => {
    expect(read(text)).toBeUndefined()
  })
})
