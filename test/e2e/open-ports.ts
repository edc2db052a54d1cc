// What pods of ours listen on and whom they dial, by their kernel, and what their NetworkPolicies let through.
import type { LabCluster } from './lab/cluster.ts'

export type Traffic = {
  /** `PORT/PROTOCOL`, sorted. */
  readonly inward: readonly string[]
  /** Protocols. */
  readonly outward: readonly string[]
}

type Port = { readonly name: string; readonly containerPort: number }
type Pod = {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec: { readonly containers: readonly { readonly ports: readonly Port[] }[] }
}
type Rule = { readonly ports: readonly { readonly port?: string; readonly protocol: string }[] }
type Policy = {
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly policyTypes: readonly string[]
    readonly ingress?: readonly Rule[]
    readonly egress?: readonly Rule[]
  }
}

/** Rows of /proc/net of the container: protocol, local and remote `ADDRESS:PORT` in hexadecimal, state. */
const readSockets = `
  const fs = require('node:fs')
  for (const file of ['tcp', 'tcp6', 'udp', 'udp6'])
    for (const line of fs.readFileSync('/proc/net/' + file, 'utf8').trim().split('\\n').slice(1)) {
      const [, local, remote, state] = line.trim().split(/\\s+/)
      console.log(file.slice(0, 3), local, remote, state)
    }`
const loopback = /^(0100007F|0{24}01000000):/
const states = { listening: '0A', bound: '07' }

const sortedOnce = (texts: readonly string[]): readonly string[] =>
  [...new Set(texts)].sort((a, b) => (a < b ? -1 : 1))
const portOf = (address = ''): number => Number.parseInt(address.split(':')[1] ?? '', 16)

/** By the names of pods. */
export async function trafficOf(
  { kubectl }: LabCluster,
  namespace: string,
): Promise<Readonly<Record<string, { readonly real: Traffic; readonly allowed: Traffic }>>> {
  const get = async (what: string): Promise<readonly object[]> =>
    JSON.parse(await kubectl.run(['get', what, '-n', namespace, '-o', 'json'])).items
  const pods: readonly Pod[] = Object(await get('pods'))
  const policies: readonly Policy[] = Object(await get('networkpolicies'))
  const found = pods.map(async pod => {
    const node = ['node', '--eval', readSockets]
    const sockets = await kubectl.run(['exec', pod.metadata.name, '-n', namespace, '--', ...node])
    return [pod.metadata.name, { real: realOf(sockets), allowed: allowedBy(policies, pod) }] as const
  })
  return Object.fromEntries(await Promise.all(found))
}

function realOf(sockets: string): Traffic {
  const rows = sockets
    .trim()
    .split('\n')
    .map(line => line.split(' '))
    .filter(([, local = '']) => !loopback.test(local))
  const isServer = ([protocol, , , state]: readonly string[]): boolean =>
    state === (protocol === 'tcp' ? states.listening : states.bound)
  const name = ([protocol = '', local]: readonly string[]): string =>
    `${portOf(local)}/${protocol.toUpperCase()}`
  const inward = sortedOnce(rows.filter(isServer).map(name))
  const dialled = rows.filter(row => !isServer(row) && !inward.includes(name(row)))
  return { inward, outward: sortedOnce(dialled.map(([protocol = '']) => protocol.toUpperCase())) }
}

/** Of a pod that policies select; those of one kind add up. */
function allowedBy(policies: readonly Policy[], { metadata, spec }: Pod): Traffic {
  const own = policies.filter(policy =>
    Object.entries(policy.spec.podSelector.matchLabels).every(
      ([key, value]) => metadata.labels[key] === value,
    ),
  )
  const rules = (type: 'Ingress' | 'Egress'): Rule['ports'] => {
    const those = own.filter(policy => policy.spec.policyTypes.includes(type))
    if (those.length === 0) return [{ protocol: 'everything' }]
    return those
      .flatMap(policy => (type === 'Ingress' ? policy.spec.ingress : policy.spec.egress) ?? [])
      .flatMap(({ ports }) => ports)
  }
  const ports = spec.containers.flatMap(container => container.ports)
  const numberOf = (name = ''): number | undefined => ports.find(port => port.name === name)?.containerPort
  return {
    inward: sortedOnce(rules('Ingress').map(({ port, protocol }) => `${numberOf(port)}/${protocol}`)),
    outward: sortedOnce(rules('Egress').map(({ protocol }) => protocol)),
  }
}
