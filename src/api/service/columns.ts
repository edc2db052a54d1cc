/** How kubectl users know Services. */
import { ageColumn, type Column } from '../kind.ts'
import type { Service, ServicePort, ServiceSpec } from './schema.ts'

export const serviceColumns: readonly Column<Service>[] = [
  { name: 'Type', type: 'string', description: 'Type of the Service.', cell: o => o.spec?.type ?? '' },
  {
    name: 'Cluster-IP',
    type: 'string',
    description: 'Address in the cluster.',
    cell: o => o.spec?.clusterIPs?.[0] || o.spec?.clusterIP || '<none>',
  },
  {
    name: 'External-IP',
    type: 'string',
    description: 'Addresses outside of the cluster.',
    cell: externalAddress,
  },
  {
    name: 'Port(s)',
    type: 'string',
    description: 'Ports, with their node ports.',
    cell: o => (o.spec?.ports ?? []).map(portText).join(',') || '<none>',
  },
  ageColumn,
  {
    name: 'Selector',
    type: 'string',
    description: 'Labels of the pods that traffic goes to.',
    priority: 1,
    cell: o => selectorText(o.spec ?? {}),
  },
]

function externalAddress({ spec = {}, status }: Service): string {
  const external = spec.externalIPs ?? []
  if (spec.type === 'ExternalName') return spec.externalName ?? ''
  if (spec.type !== 'LoadBalancer') return external.join(',') || '<none>'
  const ingress = (status?.loadBalancer?.ingress ?? []).map(i => i.ip || i.hostname || '')
  return [...new Set([...ingress, ...external])].filter(Boolean).join(',') || '<pending>'
}

function portText({ port, nodePort, protocol }: ServicePort): string {
  return nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`
}

function selectorText({ selector = {} }: ServiceSpec): string {
  const pairs = Object.entries(selector).map(([key, value]) => `${key}=${value}`)
  return pairs.toSorted().join(',') || '<none>'
}
