import { describe, expect, it } from 'vitest'
import {
  type ExportedEndpointSlice,
  ExportedEndpointSliceKind,
  exportedSliceName,
} from '../../../../../src/api/kinds/exported-endpoint-slice.ts'
import { dns1123SubdomainErrors } from '../../../../../src/api/names.ts'

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

describe('ExportedEndpointSlice', () => {
  const exported = (
    spec: Partial<ExportedEndpointSlice['spec']> = {},
    name?: string,
  ): ExportedEndpointSlice => {
    const whole: ExportedEndpointSlice['spec'] = {
      namespace: 'shop',
      service: 'web',
      slice: 'web-abc',
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.0.1'], hostname: 'web-0' }],
      ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
      ...spec,
    }
    return {
      apiVersion: 'hub.isthmus.dev/v1alpha1',
      kind: 'ExportedEndpointSlice',
      metadata: { name: name ?? exportedSliceName(whole.namespace, whole.slice), namespace: 'member-east' },
      spec: whole,
    }
  }
  const errors = (object: ExportedEndpointSlice): readonly string[] =>
    ExportedEndpointSliceKind.validate(object).map(error => error.field)

  it('takes a good one', () => {
    expect(errors(exported())).toEqual([])
    expect(errors(exported({ endpoints: [], ports: [] }))).toEqual([])
  })

  it('has one name, so that it cannot pass for another object', () => {
    expect(errors(exported({}, 'web'))).toEqual(['metadata.name'])
  })

  it.each<[string, Partial<ExportedEndpointSlice['spec']>]>([
    ['spec.namespace', { namespace: 'a.b' }],
    ['spec.service', { service: 'a.b' }],
    ['spec.endpoints[0].addresses[0]', { endpoints: [{ addresses: ['fd00::1'] }] }],
    ['spec.endpoints[0].addresses[0]', { endpoints: [{ addresses: ['169.254.169.254'] }] }],
    ['spec.endpoints[0].addresses[0]', { endpoints: [{ addresses: ['127.0.0.1'] }] }],
    ['spec.endpoints[0].hostname', { endpoints: [{ addresses: ['10.1.0.1'], hostname: 'a.b' }] }],
    ['spec.ports[1].name', { ports: [{ name: 'a' }, { name: 'a' }] }],
    ['spec.ports[0].name', { ports: [{ name: 'a_b' }] }],
  ])('refuses what importing clusters would refuse: %s', (field, spec) => {
    expect(errors(exported(spec))).toEqual([field])
  })
})
