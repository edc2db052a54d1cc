import { wellKnown } from '../api/well-known.ts'
import { parseAddress } from '../ip/address.ts'

export type RequestedAddresses = {
  /** At most one of each family, as they are written down. */
  readonly ips: readonly string[]
  /** Why what was asked for is none. */
  readonly problem: string | undefined
}

const field = `metadata.annotations[${wellKnown.clusterSetIps}]`
const maxLength = 200

/** The ClusterSetIPs that an export asks for. */
export function requestedAddresses(
  annotations: Readonly<Record<string, string>> | undefined,
): RequestedAddresses {
  const text = annotations?.[wellKnown.clusterSetIps]
  if (text === undefined) return { ips: [], problem: undefined }
  const parts = text.length > maxLength ? [] : text.split(',')
  const addresses = parts.map(part => parseAddress(part.trim())).filter(address => address !== undefined)
  const families = new Set(addresses.map(({ family }) => family))
  if (parts.length === 0 || addresses.length < parts.length || families.size < parts.length) {
    return { ips: [], problem: `${field}: must be one address of each family, with a comma between two` }
  }
  return { ips: addresses.map(address => address.text), problem: undefined }
}
