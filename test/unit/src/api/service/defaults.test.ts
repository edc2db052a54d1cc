import { describe, expect, it } from 'vitest'
import { applyDefaults } from '../../../../../src/api/derive/validate.ts'
import { aService, http, preparedService, type Spec, serviceKind } from '../../../../support/services.ts'

const base = {
  sessionAffinity: 'None',
  type: 'ClusterIP',
  internalTrafficPolicy: 'Cluster',
}
const port = { name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }

describe('the defaults of a Service', () => {
  it.each([
    ['nothing', {}, { ...base, ports: [port] }],
    [
      'a target',
      { ports: [{ port: 80, targetPort: 'web' }] },
      {
        ...base,
        ports: [{ port: 80, protocol: 'TCP', targetPort: 'web' }],
      },
    ],
    [
      'an affinity',
      { sessionAffinity: 'ClientIP' },
      {
        ...base,
        ports: [port],
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
      },
    ],
    [
      'settings of an affinity that it does not have',
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
      {
        ...base,
        ports: [port],
      },
    ],
    [
      'node ports',
      { type: 'NodePort' },
      {
        ...base,
        ports: [port],
        type: 'NodePort',
        externalTrafficPolicy: 'Cluster',
      },
    ],
    [
      'a load balancer',
      { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
      {
        ...base,
        ports: [port],
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        allocateLoadBalancerNodePorts: true,
      },
    ],
    [
      'outer addresses',
      { externalIPs: ['1.1.1.1'] },
      {
        ...base,
        ports: [port],
        externalIPs: ['1.1.1.1'],
        externalTrafficPolicy: 'Cluster',
      },
    ],
    [
      'a name elsewhere',
      { type: 'ExternalName', externalName: 'a.b', ports: undefined },
      {
        sessionAffinity: 'None',
        type: 'ExternalName',
        externalName: 'a.b',
      },
    ],
  ])('for %s', (_, spec, filled) => {
    expect(applyDefaults(serviceKind, aService(spec)).spec).toEqual(filled)
  })

  it('say that nodes take the address of a load balancer for themselves', () => {
    const status = {
      loadBalancer: { ingress: [{ ip: '1.1.1.1' }, { ip: '2.2.2.2', ipMode: 'Proxy' }, { hostname: 'a' }] },
    }
    expect(applyDefaults(serviceKind, { ...aService({ type: 'LoadBalancer' }), status }).status).toEqual({
      loadBalancer: {
        ingress: [{ ip: '1.1.1.1', ipMode: 'VIP' }, { ip: '2.2.2.2', ipMode: 'Proxy' }, { hostname: 'a' }],
      },
    })
  })
})

describe('a new Service', () => {
  it('has one address in two places', () => {
    expect(preparedService({ clusterIP: '10.0.0.1' })).toMatchObject({
      spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] },
      status: { loadBalancer: {} },
    })
  })
})

describe('a write over a stored Service', () => {
  const allocated = {
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
  }
  const stored = preparedService(allocated)

  it('keeps the address that it does not name', () => {
    expect(preparedService({}, stored).spec).toMatchObject(allocated)
  })

  it('moves both places with the one that it names', () => {
    expect(preparedService({ ...allocated, clusterIP: '10.0.0.2' }, stored).spec).toMatchObject({
      clusterIPs: ['10.0.0.2'],
    })
  })

  it('keeps node ports of ports that stay, unless others ask for them', () => {
    const old = preparedService({
      type: 'NodePort',
      ports: [
        { ...http, nodePort: 30001 },
        { name: 'b', port: 81, nodePort: 30002 },
      ],
    })
    const wanted = {
      type: 'NodePort',
      ports: [http, { name: 'b', port: 81 }, { name: 'c', port: 82, nodePort: 30002 }],
    }
    expect(preparedService(wanted, old).spec).toMatchObject({
      ports: [
        { port: 80, nodePort: 30001 },
        { port: 81, targetPort: 81 },
        { port: 82, nodePort: 30002 },
      ],
    })
    expect(JSON.stringify(preparedService(wanted, old).spec)).not.toContain('"port":81,"nodePort"')
  })

  it('drops what an ExternalName does not have', () => {
    const { clusterIP: _, ...rest } = preparedService(
      { ...allocated, type: 'ExternalName', externalName: 'a.b' },
      stored,
    ).spec as Spec
    expect(rest).toEqual({
      externalName: 'a.b',
      ports: [port],
      sessionAffinity: 'None',
      type: 'ExternalName',
    })
  })

  it.each(['Cluster', 'Local'])('does not show the policy %s of an ExternalName', policy => {
    const spec = { type: 'ExternalName', externalName: 'a.b', internalTrafficPolicy: policy }
    expect(preparedService(spec).spec).not.toHaveProperty('internalTrafficPolicy')
    expect(preparedService(spec, stored).spec).not.toHaveProperty('internalTrafficPolicy')
  })

  it('forgets the status of a load balancer that it is no longer', () => {
    const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4', ipMode: 'VIP' }] } }
    const old = { ...preparedService({ type: 'LoadBalancer' }), status }
    const next = (type: string) =>
      serviceKind.prepare({ ...applyDefaults(serviceKind, aService({ type })), status }, old).status
    expect(next('LoadBalancer')).toEqual(status)
    expect(next('ClusterIP')).toEqual({ loadBalancer: {} })
    expect(next('ExternalName')).toEqual({ loadBalancer: {} })
  })

  it('drops node ports when the type has none', () => {
    const ports = [{ ...http, nodePort: 30001 }]
    const old = preparedService({ ...allocated, type: 'NodePort', ports })
    const next = preparedService(
      { ...allocated, type: 'ClusterIP', externalTrafficPolicy: 'Cluster', ports },
      old,
    )
    expect(next.spec).toEqual({ ...base, ...allocated, ports: [port] })
  })
})
