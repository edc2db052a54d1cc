import { describe, expect, it } from 'vitest'
import { exportedSliceSpec } from '../../../../src/export/slice.ts'
import { slice } from '../../../support/shop.ts'

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
