import type { EndpointSlice } from '../../src/api/kinds/endpoint-slice.ts'
import type { Service } from '../../src/api/kinds/service.ts'
import type { ServiceExport } from '../../src/api/kinds/service-export.ts'
import type { MemoryMember } from './memory-fleet.ts'
import { serviceExports, services, slices } from './memory-fleet.ts'

type ServiceSpec = NonNullable<Service['spec']>

/** A ClusterIP Service `shop/web` with the port `http:80/TCP`, as an API server returns it. */
export function service(name = 'web', spec: Partial<ServiceSpec> = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop' },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.10',
      ipFamilies: ['IPv4'],
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
      ...spec,
    },
  }
}

export const headless: Partial<ServiceSpec> = { clusterIP: 'None' }

export function serviceExport(name = 'web', spec?: ServiceExport['spec']): ServiceExport {
  return {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceExport',
    metadata: { name, namespace: 'shop' },
    ...(spec === undefined ? {} : { spec }),
  }
}

/** A slice as the stock controller writes it, of the Service that its name begins with: `web-abc`. */
export function slice(
  name: string,
  addresses: readonly string[],
  overrides: Partial<EndpointSlice> = {},
): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name,
      namespace: 'shop',
      labels: {
        'kubernetes.io/service-name': name.split('-')[0] ?? name,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
    },
    addressType: 'IPv4',
    endpoints: addresses.map(address => ({
      addresses: [address],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'node-1',
      zone: 'a',
    })),
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    ...overrides,
  }
}

/** A Service of one ready endpoint, exported. */
export async function exportWeb(
  member: MemoryMember,
  {
    spec = {},
    exported,
    address = '10.1.0.1',
  }: {
    readonly spec?: Partial<ServiceSpec>
    readonly exported?: ServiceExport['spec']
    readonly address?: string
  } = {},
): Promise<void> {
  await member.apply(services, service('web', spec))
  await member.apply(slices, slice('web-abc', [address]))
  await member.apply(serviceExports, serviceExport('web', exported))
}
