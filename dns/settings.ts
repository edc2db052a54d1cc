/** What a responder is told, checked, as zones and workers need it. */
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { parseCidr } from '../src/ip/cidr.ts'
import { badRequest } from '../src/kernel/errors.ts'
import { maxNsidOctets } from './chain.ts'
import { maxUdpOctets, minUdpOctets, type ZoneSettings } from './contract.ts'
import { type UdpBatch, type WorkerSettings, workerRole } from './messages.ts'
import type { QueryLogLevel } from './server/query-log.ts'
import { compileFixed } from './zone/fixed.ts'
import { wireName } from './zone/names.ts'
import { reverseZone } from './zone/reverse.ts'

export type AnswerOptions = {
  /** An IP address; `::` for all of both families. */
  readonly host: string
  /** `clusterset.local` when absent. */
  readonly zone?: string
  /** Of all records but the schema's version; 0 to 3600, 5 when absent. */
  readonly ttlSeconds?: number
  /** Of negative answers; 0 to 3600, 5 or what `ttlSeconds` is below that when absent. */
  readonly negativeTtlSeconds?: number
  /** What `ns.dns` in the zone resolves to; absent for the address that is listened on. */
  readonly nameServerAddresses?: readonly string[]
  /** How many endpoints the name of a headless service answers with; what always fits when absent. */
  readonly maxEndpoints?: number
  /** Blocks whose ClusterSetIPs have PTR records; none when absent. */
  readonly reverseCidrs?: readonly string[]
  /** What NSID answers; absent for nothing. */
  readonly nsid?: string
  /** Who is outside of these blocks gets smaller datagrams; absent for nobody. */
  readonly nearNetworks?: readonly string[]
  /** How small: 512 to 1232, 512 when absent. */
  readonly farUdpOctets?: number
  /** `auto` when absent. */
  readonly udpBatch?: UdpBatch
  /** `off` when absent. */
  readonly queryLog?: QueryLogLevel
}

const maxTtlSeconds = 3600
/** So many A records fit into one answer over TCP, whatever the name. */
const mostEndpoints = 4000

const defaultNegativeTtlSeconds = 5

/** Throws one sentence about the first option that cannot be. */
export function zoneSettings(options: AnswerOptions): ZoneSettings {
  const { zone = 'clusterset.local', ttlSeconds = 5, maxEndpoints = mostEndpoints } = options
  const { negativeTtlSeconds = Math.min(ttlSeconds, defaultNegativeTtlSeconds) } = options
  requireInteger('ttlSeconds', ttlSeconds, [0, maxTtlSeconds])
  requireInteger('negativeTtlSeconds', negativeTtlSeconds, [0, maxTtlSeconds])
  requireInteger('maxEndpoints', maxEndpoints, [1, mostEndpoints])
  // Throws when it is none.
  wireName(zone)
  return {
    origin: zone.replace(/\.$/, '').toLowerCase(),
    ttlSeconds,
    negativeTtlSeconds,
    maxEndpoints,
    nameServerAddresses: options.nameServerAddresses ?? ownAddresses(options.host),
    reverseZones: (options.reverseCidrs ?? []).map(reverseZoneOf),
  }
}

export function workerSettings(options: AnswerOptions, zone: ZoneSettings): Omit<WorkerSettings, 'endpoint'> {
  const { host, nsid, nearNetworks, farUdpOctets = minUdpOctets } = options
  const { udpBatch = 'auto', queryLog = 'off' } = options
  if (isIP(host) === 0) throw badRequest(`dns: host ${JSON.stringify(host)} is not an IP address`)
  if (nsid !== undefined && Buffer.byteLength(nsid) > maxNsidOctets) {
    throw badRequest(`dns: nsid must have at most ${maxNsidOctets} octets`)
  }
  requireInteger('farUdpOctets', farUdpOctets, [minUdpOctets, maxUdpOctets])
  for (const block of nearNetworks ?? []) {
    if (parseCidr(block) === undefined) throw badRequest(`dns: ${block} is not a block of addresses`)
  }
  const limits = { nearNetworks, farOctets: farUdpOctets }
  return { role: workerRole, zone, fixed: compileFixed(zone), nsid, limits, udpBatch, queryLog }
}

function requireInteger(name: string, value: number, [least, most]: readonly [number, number]): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw badRequest(`dns: ${name} must be ${least} to ${most}, not ${value}`)
}

function reverseZoneOf(block: string): string {
  const cidr = parseCidr(block)
  const zone = cidr && reverseZone(cidr)
  if (zone !== undefined) return zone
  const lengths = 'a multiple of 8 for IPv4, of 4 for IPv6'
  throw badRequest(`dns: ${block} is no reverse zone: its prefix length must be ${lengths}`)
}

/** The address that is listened on; for all addresses, the first of each family that others can reach. */
function ownAddresses(host: string): readonly string[] {
  if (host !== '0.0.0.0' && host !== '::') return [host]
  const outside = Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  const families = host === '::' ? ['IPv4', 'IPv6'] : ['IPv4']
  return families.flatMap(family => outside.find(address => address.family === family)?.address ?? [])
}
