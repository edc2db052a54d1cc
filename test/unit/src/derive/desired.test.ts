import { describe, expect, it } from 'vitest'
import { derivedServiceName } from '../../../../src/api/derived-service.ts'
import type { ServiceImport } from '../../../../src/api/kinds/service-import.ts'
import { desiredService, desiredStatus, needsAnother, sameService } from '../../../../src/derive/desired.ts'

type Spec = NonNullable<ServiceImport['spec']>

function imported(
  spec: Partial<Spec> = {},
  metadata: Partial<ServiceImport['metadata']> = {},
): ServiceImport {
  return {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceImport',
    metadata: {
      namespace: 'shop',
      name: 'web',
      uid: 'u-1',
      annotations: { 'isthmus.dev/exported-keys': '{}' },
      ...metadata,
    },
    spec: {
      type: 'ClusterSetIP',
      ips: ['10.112.0.1', 'fd00::1'],
      ipFamilies: ['IPv4', 'IPv6'],
      ports: [
        { name: 'http', port: 80, protocol: 'TCP', appProtocol: 'http' },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
      ...spec,
    },
  }
}

it.each([
  [{ namespace: 'default', name: 'my-svc' }, 'derived-b8s174v3sn'],
  [{ namespace: 'demo', name: 'serve' }, 'derived-ovtkn0laet'],
  [{ namespace: 'my-ns', name: 'my-svc' }, 'derived-a2v4k9sqn6'],
])('the name for %j is that of the reference controllers', (ref, name) => {
  expect(derivedServiceName(ref)).toBe(name)
})

describe('the derived Service', () => {
  it('has the ClusterSetIPs as those of a load balancer that nobody else takes care of', () => {
    const service = desiredService(imported(), 'shared', undefined)
    expect(service).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        namespace: 'shop',
        name: derivedServiceName({ namespace: 'shop', name: 'web' }),
        labels: {
          'multicluster.kubernetes.io/service-name': 'web',
          'app.kubernetes.io/managed-by': 'agent.isthmus.dev',
        },
        ownerReferences: [
          { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceImport', name: 'web', uid: 'u-1' },
        ],
      },
      spec: {
        type: 'LoadBalancer',
        loadBalancerClass: 'isthmus.dev/clusterset',
        allocateLoadBalancerNodePorts: false,
        externalTrafficPolicy: 'Cluster',
        ipFamilies: ['IPv4', 'IPv6'],
        ipFamilyPolicy: 'RequireDualStack',
        ports: [
          { name: 'http', protocol: 'TCP', port: 80, appProtocol: 'http' },
          { name: 'dns', protocol: 'UDP', port: 53 },
        ],
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
      },
    })
    if (service === undefined) throw new Error('no service')
    expect(desiredStatus(imported(), service).loadBalancer?.ingress).toEqual([
      { ip: '10.112.0.1', ipMode: 'VIP' },
      { ip: 'fd00::1', ipMode: 'VIP' },
    ])
  })

  it('leaves packets their source where that is asked for', () => {
    const service = desiredService(imported(), 'shared-keep-source', undefined)
    expect(service?.spec).toEqual({
      ...desiredService(imported(), 'shared', undefined)?.spec,
      externalTrafficPolicy: 'Local',
    })
  })

  it('has an address of its cluster where ClusterSetIPs are not routed', () => {
    const service = desiredService(imported({ ips: [], ipFamilies: ['IPv6'] }), 'local', undefined)
    expect(service?.spec).toMatchObject({
      type: 'ClusterIP',
      ipFamilies: ['IPv6'],
      ipFamilyPolicy: 'SingleStack',
    })
    expect(service?.spec).not.toHaveProperty('loadBalancerClass')
  })

  it('carries what the import says of traffic', () => {
    const spec = {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      internalTrafficPolicy: 'Local',
      trafficDistribution: 'PreferSameZone',
    }
    expect(desiredService(imported(spec), 'shared', undefined)?.spec).toMatchObject(spec)
  })

  it.each([
    ['is headless', imported({ type: 'Headless', ips: [] })],
    ['has no address', imported({ ips: [] })],
    ['has no ports', imported({ ports: [] })],
    ['has no family that the cluster can use', imported({ ipFamilies: [] })],
    ['is going away', imported({}, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['is none of ours', imported({}, { annotations: {} })],
  ])('is not there when the import %s', (_why, without) => {
    expect(desiredService(without, 'shared', undefined)).toBeUndefined()
  })
})

describe('a derived Service that is there', () => {
  const first = desiredService(imported(), 'shared', undefined)
  if (first === undefined) throw new Error('no service')
  /** As kube-apiserver gives it back. */
  const there = {
    ...first,
    metadata: { ...first.metadata, uid: 's-1', resourceVersion: '7' },
    spec: {
      ...first.spec,
      clusterIP: '10.96.0.7',
      clusterIPs: ['10.96.0.7', 'fd00:96::7'],
      externalTrafficPolicy: 'Cluster',
      ports: first.spec?.ports?.map(port => ({ ...port, targetPort: port.port })) ?? [],
    },
    status: { loadBalancer: { ingress: [{ ip: '10.112.0.1', ipMode: 'VIP' }] } },
  }
  const again = (next: ServiceImport) => desiredService(next, 'shared', there) ?? first

  it('is left as it is, with what the API server gave it', () => {
    expect(sameService(there, again(imported()))).toBe(true)
    expect(again(imported()).spec?.clusterIPs).toEqual(there.spec.clusterIPs)
  })

  it.each([
    ['other ports', imported({ ports: [{ port: 81 }] })],
    ['affinity', imported({ sessionAffinity: 'ClientIP' })],
    ['another import of the same name', imported({}, { uid: 'u-2' })],
  ])('is changed for %s', (_what, next) => {
    expect(sameService(there, again(next))).toBe(false)
    expect(needsAnother(there, again(next))).toBe(false)
  })

  it('is mended when somebody gave it a selector, or took away its owner', () => {
    const edited = { ...there, spec: { ...there.spec, selector: { app: 'other' } } }
    const orphan = { ...there, metadata: { ...there.metadata, ownerReferences: [] } }
    for (const wrong of [edited, orphan]) {
      const desired = desiredService(imported(), 'shared', wrong) ?? first
      expect(sameService(wrong, desired)).toBe(false)
      expect(desired.spec).not.toHaveProperty('selector')
    }
  })

  it('keeps the node port for health checks as long as it needs one', () => {
    const kept = {
      ...there,
      spec: { ...there.spec, externalTrafficPolicy: 'Local', healthCheckNodePort: 30_123 },
    }
    const same = desiredService(imported(), 'shared-keep-source', kept) ?? first
    expect(sameService(kept, same)).toBe(true)
    for (const routing of ['shared', 'local'] as const) {
      const other = desiredService(imported(), routing, kept) ?? first
      expect(sameService(kept, other)).toBe(false)
      expect(other.spec).not.toHaveProperty('healthCheckNodePort')
    }
  })

  it('gives way to another when its first family is another one', () => {
    expect(needsAnother(there, again(imported({ ipFamilies: ['IPv6', 'IPv4'] })))).toBe(true)
  })

  it('has the default time of affinity as if it were written', () => {
    const config = { clientIP: { timeoutSeconds: 10_800 } }
    const sticky = {
      ...there,
      spec: { ...there.spec, sessionAffinity: 'ClientIP', sessionAffinityConfig: config },
    }
    const desired = desiredService(imported({ sessionAffinity: 'ClientIP' }), 'shared', sticky) ?? first
    expect(sameService(sticky, desired)).toBe(true)
  })
})
