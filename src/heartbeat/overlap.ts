/** Whether ClusterSetIPs are told apart from the addresses that a cluster uses by itself. Pure. */
import type { memberClusterConditions } from '../api/kinds/member-cluster.ts'
import type { Verdict } from '../api/verdict.ts'
import { type Address, parseAddress } from '../ip/address.ts'
import { contains, overlaps, parseCidr } from '../ip/cidr.ts'
import type { Networks } from './lease.ts'

type Apart = Verdict<typeof memberClusterConditions, 'AddressesApart'>

/** So many overlaps are named. */
const maxNamed = 4

export function apartness(pools: readonly string[], networks: Networks): Apart {
  const found = [
    ...overlapsOf(pools, networks.services).map(pair => `${pair} of its Services`),
    ...overlapsOf(pools, networks.pods).map(pair => `${pair} of its pods`),
  ]
  if (found.length === 0) return { status: 'True', reason: 'NoOverlap', message: '' }
  const more = found.length > maxNamed ? ` and ${found.length - maxNamed} more` : ''
  const message = `pools of ClusterSetIPs overlap addresses that the cluster uses by itself: ${found.slice(0, maxNamed).join(', ')}${more}`
  return { status: 'False', reason: 'Overlap', message }
}

/** Why addresses of an import may lead somewhere else in a cluster; undefined when they do not. */
export function clashOf(ips: readonly string[], { pods, services }: Networks): string | undefined {
  for (const ip of ips) {
    const address = parseAddress(ip)
    const within = (blocks: readonly string[]): string | undefined =>
      blocks.find(text => address !== undefined && isIn(address, text))
    const [service, pod] = [within(services), within(pods)]
    if (service !== undefined)
      return `${ip} is an address of Services of this cluster as well, which has ${service}`
    if (pod !== undefined) return `${ip} is an address of pods of this cluster as well, which has ${pod}`
  }
  return undefined
}

function isIn(address: Address, text: string): boolean {
  const block = parseCidr(text)
  return block !== undefined && contains(block, address)
}

function overlapsOf(pools: readonly string[], used: readonly string[]): readonly string[] {
  const blocks = used.map(parseCidr).filter(block => block !== undefined)
  return pools.flatMap(text => {
    const pool = parseCidr(text)
    if (pool === undefined) return []
    return blocks.filter(block => overlaps(pool, block)).map(block => `${pool.text} and ${block.text}`)
  })
}
