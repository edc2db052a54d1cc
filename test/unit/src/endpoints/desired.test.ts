import { describe, expect, it } from 'vitest'
import { dns1123SubdomainErrors } from '../../../../src/api/names.ts'
import {
  desiredSlice,
  type ImportedService,
  importedSliceName,
  type SourceSlice,
  sameSlice,
} from '../../../../src/endpoints/desired.ts'
import { ports } from '../../../support/contributions.ts'

const imported = (overrides: Partial<ImportedService> = {}): ImportedService => ({
  type: 'ClusterSetIP',
  ports: ports('http:80'),
  ipFamilies: ['IPv4'],
  trafficDistribution: undefined,
  clusters: [{ cluster: 'east' }],
  ...overrides,
})

const source = (overrides: Partial<SourceSlice> = {}): SourceSlice => ({
  cluster: 'east',
  service: { namespace: 'shop', name: 'web' },
  name: 'web-abc',
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true }, zone: 'a' }],
  ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  servicePorts: ports('http:80'),
  draining: false,
  ...overrides,
})

const target = (name: string, port: number) => ({ name, protocol: 'TCP', port })

function shownPorts(from: Partial<SourceSlice>, into: Partial<ImportedService>): string | undefined {
  const slice = desiredSlice(source(from), imported(into))
  return slice?.ports?.map(port => `${port.name}:${port.port}`).join(' ')
}

describe('ports of imported slices', () => {
  it.each([
    {
      what: '17: keep what the own Service has',
      own: 'http:80',
      slice: [target('http', 8080)],
      merged: 'http:80 metrics:9090',
      kept: 'http:8080',
    },
    {
      what: '19: take the name that the import has',
      own: 'web:80',
      slice: [target('web', 8080)],
      merged: 'http:80',
      kept: 'http:8080',
    },
    {
      what: '25: keep the socket under its merged name',
      own: 'b:80 a:81',
      slice: [target('b', 1), target('a', 2)],
      merged: 'a:80',
      kept: 'a:1',
    },
    {
      what: 'B35: lose a name that the import has not',
      own: 'http:80',
      slice: [target('http', 8080)],
      merged: ':80',
      kept: ':8080',
    },
    {
      what: 'B38: without a name stay so',
      own: ':80',
      slice: [target('', 8080)],
      merged: ':80',
      kept: ':8080',
    },
    {
      what: 'go when the number is disputed',
      own: 'http:8080',
      slice: [target('http', 1)],
      merged: 'http:80',
      kept: undefined,
    },
    {
      what: 'go when the own Service does not name them',
      own: 'http:80',
      slice: [target('other', 1)],
      merged: 'http:80',
      kept: undefined,
    },
  ])('$what', ({ own, slice, merged, kept }) => {
    expect(shownPorts({ servicePorts: ports(own), ports: slice }, { ports: ports(merged) })).toBe(kept)
  })

  it('tell protocols apart', () => {
    const both = ports('dns:53 dns-udp:53/UDP')
    const slicePorts = [target('dns', 5353), { name: 'dns-udp', protocol: 'UDP', port: 5354 }]
    expect(shownPorts({ servicePorts: both, ports: slicePorts }, { ports: ports('udp:53/UDP tcp:53') })).toBe(
      'tcp:5353 udp:5354',
    )
  })

  it('may all go from a headless slice, whose addresses are still of use', () => {
    const disputed = { servicePorts: ports('http:8080') }
    expect(desiredSlice(source(disputed), imported({ type: 'Headless' }))).toMatchObject({
      ports: [],
      endpoints: [{ addresses: ['10.1.0.1'] }],
    })
  })
})

describe('desiredSlice', () => {
  it('is nothing for a cluster whose export does not count, and for a family that the import has not', () => {
    expect(desiredSlice(source({ cluster: 'west' }), imported())).toBeUndefined()
    expect(desiredSlice(source({ addressType: 'IPv6' }), imported())).toBeUndefined()
    expect(desiredSlice(source({ addressType: 'FQDN' }), imported())).toBeUndefined()
  })

  it('keeps labels that others have set, and its own', () => {
    const first = desiredSlice(source(), imported())
    if (first === undefined) throw new Error('nothing was imported')
    const metadata = {
      ...first.metadata,
      labels: { mine: 'yes', 'multicluster.kubernetes.io/source-cluster': 'x' },
    }
    const next = desiredSlice(source(), imported(), { current: { ...first, metadata } })
    expect(next?.metadata.labels).toEqual({ ...first.metadata.labels, mine: 'yes' })
  })

  it('has hints only for endpoints in a zone, and only when traffic is to stay near', () => {
    const endpoints = [{ addresses: ['10.1.0.1'], zone: 'a' }, { addresses: ['10.1.0.2'] }]
    const hints = (trafficDistribution: string | undefined) =>
      desiredSlice(source({ endpoints }), imported({ trafficDistribution }))?.endpoints.map(e => e.hints)
    expect(hints('PreferSameZone')).toEqual([{ forZones: [{ name: 'a' }] }, undefined])
    expect(hints(undefined)).toEqual([undefined, undefined])
  })

  it('is the same for what an API server has defaulted', () => {
    const desired = desiredSlice(source({ endpoints: [{ addresses: ['10.1.0.1'] }] }), imported())
    if (desired === undefined) throw new Error('nothing was imported')
    const { name: _name, protocol: _protocol, ...unnamed } = target('', 8080)
    const bare = { ...desired, endpoints: [{ addresses: ['10.1.0.1'] }], ports: [unnamed] }
    expect(sameSlice(bare, { ...desired, ports: [target('', 8080)] })).toBe(true)
    expect(sameSlice(bare, desired)).toBe(false)
  })
})

describe('importedSliceName', () => {
  it('B53: is a good name for the longest service, and differs by cluster, slice and family', () => {
    const service = { namespace: 'shop', name: 's'.repeat(63) }
    const names = [
      importedSliceName({ cluster: 'east', service, name: 'x', addressType: 'IPv4' }),
      importedSliceName({ cluster: 'west', service, name: 'x', addressType: 'IPv4' }),
      importedSliceName({ cluster: 'east', service, name: 'y', addressType: 'IPv4' }),
      importedSliceName({ cluster: 'east', service, name: 'x', addressType: 'IPv6' }),
    ]
    expect(new Set(names).size).toBe(4)
    expect(names.flatMap(dns1123SubdomainErrors)).toEqual([])
  })
})
