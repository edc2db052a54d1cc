import type { ExportedPort, ExportedServiceFacts } from '../../src/api/kinds/exported-service.ts'
import type { Contribution } from '../../src/contract.ts'

type Overrides = Partial<Omit<Contribution, 'service' | 'cluster' | 'createdMs'>> &
  Partial<ExportedServiceFacts>

/** `c1@10`: an export of cluster c1 from second 10, of a ClusterIP Service with the port `http:80/TCP`. */
export function contribution(at: string, overrides: Overrides = {}): Contribution {
  const [cluster = '', second = '0'] = at.split('@')
  const { acceptedMs, addresses, labels, annotations, consumers, taint, unreachable, region, ...service } =
    overrides
  return {
    cluster,
    createdMs: Number(second) * 1000,
    acceptedMs: acceptedMs ?? 0,
    labels: labels ?? {},
    annotations: annotations ?? {},
    consumers,
    addresses: addresses ?? [],
    taint,
    unreachable,
    region,
    service: {
      type: 'ClusterSetIP',
      ports: ports('http:80'),
      ipFamilies: ['IPv4'],
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
      ...service,
    },
  }
}

/** `http:80`, `dns:53/UDP`, `:80` for a port without a name; several apart by blanks. */
export function ports(text: string): readonly ExportedPort[] {
  return text
    .split(' ')
    .filter(part => part !== '')
    .map(part => {
      const [, name = '', port, protocol = 'TCP'] = /^([^:]*):(\d+)(?:\/(\w+))?$/.exec(part) ?? []
      if (protocol !== 'TCP' && protocol !== 'UDP' && protocol !== 'SCTP')
        throw new Error(`no protocol: ${part}`)
      return { ...(name === '' ? {} : { name }), protocol, port: Number(port) }
    })
}
