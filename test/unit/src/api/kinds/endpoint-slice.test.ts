import { describe, expect, it } from 'vitest'
import { applyDefaults, validateSchema } from '../../../../../src/api/derive/validate.ts'
import type { KubeObject } from '../../../../../src/api/meta.ts'
import { fieldErrorText } from '../../../../../src/kernel/field-error.ts'
import { kindNamed } from '../../../../support/mcs-objects.ts'

const kind = kindNamed('EndpointSlice')

function aSlice(content: Readonly<Record<string, unknown>> = {}): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'web-1', namespace: 'shop' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'] }],
    ports: [{ name: 'http', port: 80 }],
    ...content,
  }
}

function texts(content: Readonly<Record<string, unknown>>, old?: KubeObject): readonly string[] {
  const slice = applyDefaults(kind, aSlice(content))
  const errors = validateSchema(kind, slice)
  return (errors.length > 0 ? errors : kind.validate(slice, old)).map(fieldErrorText)
}

const oneEndpoint = (endpoint: Readonly<Record<string, unknown>>) => ({
  endpoints: [{ addresses: ['10.1.0.1'], ...endpoint }],
})

describe('an EndpointSlice', () => {
  it.each([
    ['IPv4', '10.1.0.1'],
    ['IPv6', 'fd00::1'],
    ['FQDN', 'a.example.com'],
  ])('of type %s takes %s', (addressType, address) => {
    expect(texts({ addressType, endpoints: [{ addresses: [address] }] })).toEqual([])
  })

  it.each([
    ['IPv4', 'fd00::1', 'must be a valid IPv4 address'],
    ['IPv4', '010.1.0.1', 'must be a valid IPv4 address'],
    ['IPv4', 'web', 'must be a valid IPv4 address'],
    ['IPv6', '10.1.0.1', 'must be a valid IPv6 address'],
    ['IPv6', 'fe80::1%eth0', 'must be a valid IPv6 address'],
    ['IPv4', '127.0.0.1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ['IPv6', '::1', 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ['IPv4', '0.0.0.0', 'may not be unspecified (0.0.0.0)'],
    ['IPv4', '169.254.1.1', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    ['IPv6', 'fe80::1', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
    ['IPv4', '224.0.0.5', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
  ])('of type %s refuses %s', (addressType, address, detail) => {
    expect(texts({ addressType, endpoints: [{ addresses: [address] }] })).toEqual([
      `endpoints[0].addresses[0]: Invalid value: "${address}": ${detail}`,
    ])
  })

  it('has a type, and keeps it', () => {
    expect(texts({ addressType: undefined })).toEqual(['addressType: Required value'])
    expect(texts({ addressType: 'IPv5' })).toEqual([
      'addressType: Unsupported value: "IPv5": supported values: "FQDN", "IPv4", "IPv6"',
    ])
    expect(texts({}, aSlice({ addressType: 'IPv6' }))).toEqual([
      'addressType: Invalid value: "IPv4": field is immutable',
    ])
  })

  it.each([
    [{ addresses: [] }, 'endpoints[0].addresses: Required value: must contain at least 1 address'],
    [{ addresses: ['10.1.0.1', '10.1.0.1'] }, 'endpoints[0].addresses[1]: Duplicate value: "10.1.0.1"'],
    [
      { addresses: Array.from({ length: 101 }, (_, i) => `10.1.1.${i}`) },
      'endpoints[0].addresses: Too many: 101: must have at most 100 items',
    ],
    [
      { deprecatedTopology: { a: 'b' } },
      'endpoints[0].deprecatedTopology: Forbidden: may not be set, use zone and nodeName',
    ],
    [{ hostname: 'a.b' }, 'endpoints[0].hostname: Invalid value: "a.b": must not contain dots'],
  ])('refuses the endpoint %j', (endpoint, text) => {
    expect(texts(oneEndpoint(endpoint))).toEqual([text])
  })

  it('takes a thousand endpoints', () => {
    const endpoints = Array.from({ length: 1001 }, (_, i) => ({ addresses: [`10.1.${i >> 8}.${i & 255}`] }))
    expect(texts({ endpoints: endpoints.slice(1) })).toEqual([])
    expect(texts({ endpoints })).toEqual(['endpoints: Too many: 1001: must have at most 1000 items'])
  })

  it.each([
    [[{ port: 80 }, { port: 81 }], ['ports[1].name: Duplicate value: ""']],
    [
      [{ name: 'A' }],
      [expect.stringMatching(/^ports\[0\]\.name: Invalid value: "A": a lowercase RFC 1123 label/)],
    ],
    [[{ port: 0 }], ['ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive']],
    [
      [{ protocol: 'ICMP' }],
      ['ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ],
    [[{ appProtocol: 'a b' }], [expect.stringMatching(/^ports\[0\]\.appProtocol: Invalid value: "a b"/)]],
    [[{}], []],
  ])('checks the ports %j', (ports, errors) => {
    expect(texts({ ports })).toEqual(errors)
  })

  it('speaks TCP when it does not say, and has no endpoints when none are given', () => {
    expect(applyDefaults(kind, aSlice({ endpoints: null }))).toMatchObject({
      endpoints: [],
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    })
  })
})
