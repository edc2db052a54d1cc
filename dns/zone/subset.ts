/** Which endpoints of a headless service its own name answers with, when there are too many for an answer. */
import type { EndpointFacts, SliceFacts } from '../contract.ts'

/** Where in the slices an endpoint is that the name answers with. */
export type Chosen = (slice: SliceFacts, endpoint: EndpointFacts) => boolean

const everyOne: Chosen = () => true

/** So many AAAA records fit into one answer over TCP, whatever the name. */
const mostWithIpv6 = 2300

/**
 * At most `most` endpoints, as far as they can be told apart: by hostname and cluster, so that an endpoint has its IPv4 and
 * its IPv6 addresses in the subset or none, else by address. Clusters take turns. The choice depends on the set alone, and
 * one endpoint more or less changes it by one: whoever remembers an answer keeps meeting the same endpoints. None of slices
 * that stand by.
 */
export function chooseEndpoints(slices: readonly SliceFacts[], most: number): Chosen {
  const used = slices.filter(({ standby }) => standby !== true)
  const chosen = choose(used, most)
  return used.length === slices.length
    ? chosen
    : (slice, endpoint) => slice.standby !== true && chosen(slice, endpoint)
}

function choose(slices: readonly SliceFacts[], most: number): Chosen {
  const ofCluster = new Map<string, Set<string>>()
  for (const slice of slices) {
    const cluster = slice.cluster.toLowerCase()
    const keys = ofCluster.get(cluster) ?? new Set()
    ofCluster.set(cluster, keys)
    for (const endpoint of slice.endpoints) for (const key of keysOf(endpoint)) keys.add(key)
  }
  const count = [...ofCluster.values()].reduce((sum, keys) => sum + keys.size, 0)
  const room = slices.some(hasIpv6) ? Math.min(most, mostWithIpv6) : most
  if (count <= room) return everyOne
  const chosen = takeTurns(ofCluster, room)
  return (slice, endpoint) =>
    keysOf(endpoint).some(key => chosen.has(`${slice.cluster.toLowerCase()}/${key}`))
}

function hasIpv6({ endpoints }: SliceFacts): boolean {
  return endpoints[0]?.addresses[0]?.includes(':') === true
}

function keysOf({ hostname, addresses }: EndpointFacts): readonly string[] {
  return hostname === '' ? addresses : [hostname.toLowerCase()]
}

function takeTurns(ofCluster: ReadonlyMap<string, ReadonlySet<string>>, most: number): ReadonlySet<string> {
  const queues = [...ofCluster]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([cluster, keys]) => inOrderOfHash([...keys].map(key => `${cluster}/${key}`)))
  const chosen = new Set<string>()
  for (let round = 0; chosen.size < most; round++) {
    for (const queue of queues) {
      const key = queue[round]
      if (key !== undefined && chosen.size < most) chosen.add(key)
    }
  }
  return chosen
}

function inOrderOfHash(keys: readonly string[]): readonly string[] {
  return keys
    .map(key => ({ key, hash: hashOf(key) }))
    .sort((one, other) => one.hash - other.hash || (one.key < other.key ? -1 : 1))
    .map(({ key }) => key)
}

/** FNV-1a with the finish of MurmurHash3: names that differ in the last digit are far apart. */
function hashOf(text: string): number {
  let hash = 0x811c_9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
