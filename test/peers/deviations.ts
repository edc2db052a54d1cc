/** Where CoreDNS's multicluster zones answer otherwise than the specification and the RFCs want, and we do not follow. */
import type { Service } from './world.ts'

export type Difference = {
  /** Without the zone, lower case. */
  readonly name: string
  readonly type: string
  /** NOERROR, NODATA or NXDOMAIN. */
  readonly ours: string
  readonly theirs: string
}

type Rule = { readonly why: string; covers(difference: Difference, services: readonly Service[]): boolean }

const addresses = ['A', 'AAAA']

function between(ours: string, theirs: string): (difference: Difference) => boolean {
  return difference => difference.ours === ours && difference.theirs === theirs
}

/** The service that the name ends with, and the labels in front of it. */
function found(name: string, services: readonly Service[]): { service: Service; front: string } | undefined {
  for (const service of services) {
    const own = `${service.name}.${service.namespace}.svc`
    if (name === own) return { service, front: '' }
    if (name.endsWith(`.${own}`)) return { service, front: name.slice(0, -own.length - 1) }
  }
  return undefined
}

function isReadyCluster(service: Service, cluster: string): boolean {
  const own = service.slices.filter(slice => slice.cluster === cluster)
  return service.type === 'Headless' && own.some(({ endpoints }) => endpoints.some(({ ready }) => ready))
}

export const deviations: readonly Rule[] = [
  {
    why: 'the schema version is that of multicluster DNS, and its name exists',
    covers: ({ name }) => name === 'dns-version',
  },
  {
    why: 'names above an existing one exist: dns',
    covers: difference => difference.name === 'dns' && between('NODATA', 'NXDOMAIN')(difference),
  },
  { why: 'there are no pods in the zone', covers: ({ name }) => /(^|\.)pod$/.test(name) },
  {
    why: 'a namespace exists while it holds an import',
    covers: (difference, services) => {
      const [, namespace] = /^([^.]+)\.svc$/.exec(difference.name) ?? []
      const holds = services.some(service => service.namespace === namespace)
      return namespace !== undefined && !holds && between('NXDOMAIN', 'NODATA')(difference)
    },
  },
  {
    why: 'a ClusterSetIP service without ports exists',
    covers: ({ name, ours, theirs }, services) => {
      const place = found(name, services)
      if (place?.service.type !== 'ClusterSetIP' || place.service.ports.length > 0) return false
      return place.front === '' && ours !== 'NXDOMAIN' && theirs === 'NXDOMAIN'
    },
  },
  {
    why: 'the name of a port has no addresses',
    covers: ({ name, type, ours, theirs }) =>
      /^_[^.]+\._(tcp|udp|sctp)\./.test(name) &&
      addresses.includes(type) &&
      ours === 'NODATA' &&
      theirs === 'NOERROR',
  },
  {
    why: 'names above an existing one exist: _tcp',
    covers: difference =>
      /^_(tcp|udp|sctp)\.[^.]+\.[^.]+\.svc$/.test(difference.name) &&
      between('NODATA', 'NXDOMAIN')(difference),
  },
  {
    why: 'names above an existing one exist: a cluster, or the end of its id',
    covers: (difference, services) => {
      const place = found(difference.name, services)
      if (place === undefined || !between('NODATA', 'NXDOMAIN')(difference)) return false
      return [place.front, `c1.${place.front}`].some(cluster => isReadyCluster(place.service, cluster))
    },
  },
  {
    why: 'ids of two labels have endpoints',
    covers: ({ name, theirs }, services) =>
      found(name, services)?.front.endsWith('.c1.reg') === true && theirs === 'NXDOMAIN',
  },
  {
    why: 'endpoints of ClusterSetIP services have no names',
    covers: (difference, services) => {
      const place = found(difference.name, services)
      if (place?.service.type !== 'ClusterSetIP' || place.front.split('.').length !== 2) return false
      return difference.ours === 'NXDOMAIN' && difference.theirs !== 'NXDOMAIN'
    },
  },
  {
    why: 'both labels of a port begin with an underscore, and ports without a name have none',
    covers: ({ name, ours, theirs }) =>
      /^(_[^.]*\.[^_.][^.]*|[^_.][^.]*\._[^.]*|_\._[^.]*|_[^.]*\._)\.[^.]+\.[^.]+\.svc$/.test(name) &&
      ours === 'NXDOMAIN' &&
      theirs !== 'NXDOMAIN',
  },
  {
    why: 'a name that exists has no data for TXT either',
    covers: difference => difference.type === 'TXT' && between('NODATA', 'NXDOMAIN')(difference),
  },
  {
    why: 'a name that does not exist does not exist for SOA either',
    covers: difference => difference.type === 'SOA' && between('NXDOMAIN', 'NODATA')(difference),
  },
]
