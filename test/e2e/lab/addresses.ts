// The addresses of a lab. Clusters with nodes live in network namespaces of their own, so that these disturb nobody.

export type Addresses = {
  /** Of the node, one of each family. */
  readonly node: readonly [string, string]
  readonly pods: readonly [string, string]
  readonly services: readonly [string, string]
  /** Of the Service `kubernetes`, the first of each network. */
  readonly kubernetes: readonly [string, string]
  readonly dns: readonly [string, string]
}

export const clusterNames = ['east', 'west', 'north'] as const
export type ClusterName = (typeof clusterNames)[number]

/** The network between the nodes, and its own address in it. */
export const fabric = { ipv4: '10.201.0.1', ipv4Length: 24, ipv6: 'fd00:201::1', ipv6Length: 64 }

export function addressesOf(name: ClusterName): Addresses {
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
