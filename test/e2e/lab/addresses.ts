// The addresses of a lab. Clusters with nodes live in network namespaces of their own, so that these disturb nobody.

type Use =
  | 'node'
  | 'pods'
  | 'services'
  /** Of the Service `kubernetes`, the first of each network. */
  | 'kubernetes'
  | 'dns'

/** What a cluster has of each: one of a family, or one of each family. */
export type Addresses = Readonly<Record<Use, readonly [string, ...string[]]>>

/** IPv4 first. */
type DualAddresses = Readonly<Record<Use, readonly [string, string]>>

/** The families of a cluster. */
export type Families = 'dual' | 'IPv4' | 'IPv6'

export const clusterNames = ['east', 'west', 'north'] as const
export type ClusterName = (typeof clusterNames)[number]

/** The network between the nodes, and its own address in it. */
export const fabric = { ipv4: '10.201.0.1', ipv4Length: 24, ipv6: 'fd00:201::1', ipv6Length: 64 }

export function addressesOf(name: ClusterName): DualAddresses {
  const number = clusterNames.indexOf(name) + 1
  const services = `10.${95 + number}`
  return {
    node: [`10.201.0.1${number}`, `fd00:201::1${number}`],
    pods: [`10.244.${number}.0/24`, `fd00:244:${number}::/64`],
    services: [`${services}.0.0/16`, `fd00:96:${number}::/112`],
    kubernetes: [`${services}.0.1`, `fd00:96:${number}::1`],
    dns: [`${services}.0.10`, `fd00:96:${number}::a`],
  }
}

export function addressesIn(families: Families, all: DualAddresses): Addresses {
  if (families === 'dual') return all
  const only = ([ipv4, ipv6]: readonly [string, string]): readonly [string] => [
    families === 'IPv4' ? ipv4 : ipv6,
  ]
  const { dns, kubernetes, node, pods, services } = all
  return {
    node: only(node),
    pods: only(pods),
    services: only(services),
    kubernetes: only(kubernetes),
    dns: only(dns),
  }
}

/** That of the fabric in the first family of a cluster. */
export function fabricAddress(addresses: Addresses | undefined): string {
  return addresses?.node[0].includes(':') ? fabric.ipv6 : fabric.ipv4
}

export function inUrl(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}
