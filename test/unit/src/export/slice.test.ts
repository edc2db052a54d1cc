import { describe, expect, it } from 'vitest'
import { dns1123SubdomainErrors } from '../../../../src/api/names.ts'
import { exportedSliceName, exportedSliceSpec } from '../../../../src/export/slice.ts'
import { slice } from '../../../support/shop.ts'

describe('exportedSliceName', () => {
  it('is a good name however long the slice’s own is', () => {
    for (const name of ['web-abc', 'x'.repeat(253), `${'a.b-'.repeat(60)}z`, `${'x'.repeat(149)}-y`]) {
      expect(dns1123SubdomainErrors(exportedSliceName('n'.repeat(63), name))).toEqual([])
    }
  })

  it('B53: keeps names apart that begin alike, and namespaces', () => {
    const long = 'x'.repeat(200)
    const names = [
      exportedSliceName('shop', `${long}a`),
      exportedSliceName('shop', `${long}b`),
      exportedSliceName('shop2', `${long}a`),
    ]
    expect(new Set(names).size).toBe(3)
  })
})

describe('exportedSliceSpec', () => {
  it('keeps what other clusters can use', () => {
    const endpoints = [
      {
        addresses: ['10.1.0.1'],
        conditions: { ready: true },
        hostname: 'web-0',
        nodeName: 'node-1',
        zone: 'a',
        targetRef: { kind: 'Pod', name: 'web-0' },
        hints: { forZones: [{ name: 'a' }] },
      },
    ]
    expect(exportedSliceSpec(slice('web-abc', [], { endpoints, ports: [{ port: 8080 }] }))).toEqual({
      namespace: 'shop',
      service: 'web',
      slice: 'web-abc',
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true }, hostname: 'web-0', zone: 'a' }],
      ports: [{ name: '', protocol: 'TCP', port: 8080 }],
    })
  })

  it('is nothing for names instead of addresses, for imported slices and for slices of no Service', () => {
    const imported = {
      'kubernetes.io/service-name': 'web',
      'multicluster.kubernetes.io/source-cluster': 'east',
    }
    const metadata = slice('web-abc', []).metadata
    expect(exportedSliceSpec(slice('web-abc', [], { addressType: 'FQDN' }))).toBeUndefined()
    expect(
      exportedSliceSpec(slice('web-abc', [], { metadata: { ...metadata, labels: imported } })),
    ).toBeUndefined()
    expect(exportedSliceSpec(slice('web-abc', [], { metadata: { ...metadata, labels: {} } }))).toBeUndefined()
  })
})
