import { describe, expect, it } from 'vitest'
import { validateSchema } from '../../../../../src/api/derive/validate.ts'
import { fieldErrorText } from '../../../../../src/kernel/field-error.ts'
import { preparedService, type Spec, serviceKind } from '../../../../support/services.ts'

function texts(spec: Spec, oldSpec?: Spec): readonly string[] {
  const old = oldSpec === undefined ? undefined : preparedService(oldSpec)
  const service = preparedService(spec, old)
  const errors = validateSchema(serviceKind, service)
  return (errors.length > 0 ? errors : serviceKind.validate(service, old)).map(fieldErrorText)
}

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const range = 'must be between 1 and 65535, inclusive'

describe('the rules of ports', () => {
  it.each([
    [{ ports: [] }, ['spec.ports: Required value']],
    [{ ports: [], clusterIP: 'None' }, []],
    [
      { ports: [{ port: 80 }, { port: 81 }] },
      ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
    ],
    [{ ports: [{ name: 'A', port: 80 }] }, [`spec.ports[0].name: Invalid value: "A": ${label}`]],
    [
      {
        ports: [
          { name: 'a', port: 80 },
          { name: 'a', port: 81 },
        ],
      },
      ['spec.ports[1].name: Duplicate value: "a"'],
    ],
    [
      {
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 80 },
        ],
      },
      ['spec.ports[1]: Duplicate value: {"port":80,"protocol":"TCP"}'],
    ],
    [
      {
        ports: [
          { name: 'a', port: 53 },
          { name: 'b', port: 53, protocol: 'UDP' },
        ],
      },
      [],
    ],
    [{ ports: [{ port: 0, targetPort: 80 }] }, [`spec.ports[0].port: Invalid value: 0: ${range}`]],
    [{ ports: [{ port: 65536, targetPort: 80 }] }, [`spec.ports[0].port: Invalid value: 65536: ${range}`]],
    [
      { ports: [{ port: 80, targetPort: 70000 }] },
      [`spec.ports[0].targetPort: Invalid value: 70000: ${range}`],
    ],
    [
      { ports: [{ port: 80, targetPort: '80' }] },
      ['spec.ports[0].targetPort: Invalid value: "80": must contain at least one letter (a-z)'],
    ],
    [
      { ports: [{ port: 80, protocol: 'ICMP' }] },
      ['spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ],
    [{ ports: [{ port: 80, appProtocol: 'kubernetes.io/h2c' }] }, []],
    [
      { ports: [{ port: 80, nodePort: 30000 }] },
      ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 80, nodePort: 30000 },
          { name: 'b', port: 81, nodePort: 30000 },
        ],
      },
      ['spec.ports[1].nodePort: Duplicate value: 30000'],
    ],
    [
      { type: 'NodePort', ports: [{ port: 80, nodePort: 70000 }] },
      [`spec.ports[0].nodePort: Invalid value: 70000: ${range}`],
    ],
  ])('%j', (spec, errors) => {
    expect(texts(spec)).toEqual(errors)
  })
})

describe('the rules of addresses', () => {
  it.each([
    [{ clusterIP: '10.0.0.1' }, []],
    [{ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'] }, []],
    [
      { clusterIP: 'x' },
      [
        'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      ],
    ],
    [
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2'] },
      ['spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`'],
    ],
    [
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'] },
      [
        'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family, i.e. IPv4 and IPv6',
      ],
    ],
    [
      { clusterIP: '10.0.0.1', ipFamilies: ['IPv6'] },
      [
        'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
      ],
    ],
    [
      { type: 'LoadBalancer', clusterIP: 'None' },
      [`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for LoadBalancer services`],
    ],
    [
      { clusterIP: 'None', clusterIPs: ['None', '10.0.0.1'] },
      [`spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: 'None' must be the first and only value`],
    ],
    [{ ipFamilies: ['IPv4', 'IPv4'] }, ['spec.ipFamilies[1]: Duplicate value: "IPv4"']],
    [
      { ipFamilies: ['IPv5'] },
      ['spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"'],
    ],
    [
      { ipFamilyPolicy: 'Any' },
      [
        'spec.ipFamilyPolicy: Unsupported value: "Any": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
      ],
    ],
    [
      { type: 'ExternalName', externalName: 'a.b', clusterIP: '10.0.0.1' },
      ['spec.clusterIPs: Forbidden: may not be set for ExternalName services'],
    ],
    [
      { externalIPs: ['web'] },
      [
        'spec.externalIPs[0]: Invalid value: "web": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      ],
    ],
  ])('%j', (spec, errors) => {
    expect(texts(spec)).toEqual(errors)
  })

  it.each([
    [
      { clusterIP: '10.0.0.2' },
      { clusterIP: '10.0.0.1' },
      ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'],
    ],
    [{ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'] }, { clusterIP: '10.0.0.1' }, []],
    [
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] },
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] },
      [],
    ],
    [
      { clusterIP: 'None' },
      { clusterIP: '10.0.0.1' },
      ['spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set'],
    ],
    [{ type: 'ExternalName', externalName: 'a.b' }, { clusterIP: '10.0.0.1' }, []],
  ])('from %j, which was %j', (spec, before, errors) => {
    expect(texts(spec, before)).toEqual(errors)
  })
})

describe('the other rules', () => {
  it.each([
    [
      { type: 'Cluster' },
      [
        'spec.type: Unsupported value: "Cluster": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
    [
      { sessionAffinity: 'Cookie' },
      ['spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"'],
    ],
    [
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
      [
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400',
      ],
    ],
    [
      { internalTrafficPolicy: 'Near' },
      ['spec.internalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"'],
    ],
    [{ trafficDistribution: 'PreferClose' }, []],
    [
      { trafficDistribution: 'Far' },
      [
        'spec.trafficDistribution: Unsupported value: "Far": supported values: "PreferClose", "PreferSameNode", "PreferSameZone"',
      ],
    ],
    [
      { externalTrafficPolicy: 'Local' },
      [
        'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
      ],
    ],
    [{ type: 'ExternalName' }, ['spec.externalName: Required value']],
    [{ type: 'ExternalName', externalName: 'a.b.' }, []],
    [
      { type: 'ExternalName', externalName: 'a.b', internalTrafficPolicy: 'Near' },
      ['spec.internalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"'],
    ],
    [
      { loadBalancerClass: 'a/b' },
      ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
    ],
    [{ type: 'LoadBalancer', loadBalancerClass: 'isthmus.dev/clusterset' }, []],
    [
      { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/8', 'x'] },
      [
        'spec.loadBalancerSourceRanges[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      { healthCheckNodePort: 30000 },
      [
        "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ],
    ],
    [{ selector: { a: '-' } }, [expect.stringMatching(/^spec\.selector: Invalid value: "-"/)]],
    [
      { selector: { a: 1 } },
      [
        'spec.selector.a: Invalid value: "integer": spec.selector.a in body must be of type string: "integer"',
      ],
    ],
  ])('%j', (spec, errors) => {
    expect(texts(spec)).toEqual(errors)
  })

  it('keep the class of a load balancer', () => {
    const balancer = { type: 'LoadBalancer', loadBalancerClass: 'a.b/c' }
    expect(texts({ ...balancer, loadBalancerClass: 'a.b/d' }, balancer)).toEqual([
      'spec.loadBalancerClass: Invalid value: "a.b/d": may not change once set',
    ])
  })
})

describe('the rules of where traffic comes in', () => {
  const at = 'status.loadBalancer.ingress'
  const ofStatus = (type: string, ingress: readonly Spec[]) => {
    const service = { ...preparedService({ type }), status: { loadBalancer: { ingress } } }
    return serviceKind.validate(service, service).map(fieldErrorText)
  }

  it('are that only a load balancer has it', () => {
    const ingress = [{ ip: '1.2.3.4' }]
    const why = `${at}: Forbidden: may only be used when \`spec.type\` is 'LoadBalancer'`
    for (const type of ['ClusterIP', 'NodePort']) expect(ofStatus(type, ingress)).toEqual([why])
    expect(ofStatus('ClusterIP', [])).toEqual([])
  })

  // What kube-apiserver 1.37 answers.
  it.each([
    [{ ip: '1.2.3.4', ipMode: 'VIP' }, []],
    [{ ip: 'fd00::1', ipMode: 'Proxy' }, []],
    [{ hostname: 'a.example.com' }, []],
    [{}, []],
    [
      { ip: 'x', ipMode: 'VIP' },
      [`${at}[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`],
    ],
    [{ ip: '1.2.3.4' }, [`${at}[0].ipMode: Required value: must be specified when \`ip\` is set`]],
    [{ ipMode: 'VIP' }, [`${at}[0].ipMode: Forbidden: may not be specified when \`ip\` is not set`]],
    [
      { ip: '1.2.3.4', ipMode: 'zzz' },
      [`${at}[0].ipMode: Unsupported value: "zzz": supported values: "Proxy", "VIP"`],
    ],
    [
      { hostname: '1.2.3.4' },
      [`${at}[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`],
    ],
    [{ hostname: 'a_b' }, [expect.stringMatching(/hostname: Invalid value: "a_b": a lowercase RFC 1123/)]],
  ])('%j', (point, errors) => {
    expect(ofStatus('LoadBalancer', [point])).toEqual(errors)
  })
})
