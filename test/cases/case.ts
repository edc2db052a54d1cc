// One numbered case of the MCS specification notes (section 10) as data: what happens, and what everybody then sees.
import type { Routing } from '../../src/derive/desired.ts'
import type { Family } from '../../src/ip/address.ts'
import type { MemoryFleet } from '../support/memory-fleet.ts'

/** One thing that somebody does. Done twice it comes to the same. */
export type Act = (fleet: MemoryFleet) => Promise<void>

/** A ServiceImport in short; what is absent is not there. */
export type ImportSeen = {
  readonly type: string
  /** `http:80/TCP`, by blanks, with the application protocol in brackets. */
  readonly ports: string
  readonly families: string
  /** Families of the addresses, in their order. */
  readonly addresses: string
  readonly clusters: string
  readonly ready: string
  readonly affinity?: string
  readonly internal?: string
  readonly distribution?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** What one cluster sees of the service. */
export type Seen = {
  readonly import: ImportSeen | undefined
  /** `c1 http:8080 10.1.0.1`: source cluster, ports, endpoints. */
  readonly slices: readonly string[]
  /** By question, `web A`: the answers, or why there are none. */
  readonly dns: Readonly<Record<string, string>>
}

export type Case = {
  /** Begins with the number. */
  readonly title: string
  readonly members?: readonly string[]
  /** Those without the namespace at first. */
  readonly bare?: readonly string[]
  readonly families?: Readonly<Record<string, readonly Family[]>>
  readonly routing?: Routing
  /** What happens. Acts of one phase may come in any order; each phase ends when nothing moves any more. */
  readonly phases: readonly (readonly Act[])[]
  /** What the import keeps from the end of the first phase to the end. */
  readonly keeps?: readonly ('uid' | 'ips')[]
  /** The service looked at, if not `web`. */
  readonly service?: string
  /** In every member but where `sees` says otherwise. */
  readonly seen: Seen
  readonly sees?: Readonly<Record<string, Partial<Seen>>>
  /** Annotations of the import that are not exported ones and stay, by cluster. */
  readonly stays?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Conditions of the exports: `ok`, the reasons of a conflict, or all of them. */
  readonly exports: Readonly<Record<string, string>>
}

const anImport: ImportSeen = {
  type: 'ClusterSetIP',
  ports: 'http:80/TCP',
  families: 'IPv4',
  addresses: 'IPv4',
  clusters: 'c1',
  ready: 'True/Ready',
  affinity: 'None',
  internal: 'Cluster',
}

/** The plainest import, but for what is given. */
export function imported(over: Partial<ImportSeen> = {}): ImportSeen {
  return { ...anImport, ...over }
}

/** The plainest headless one. */
export function headlessImport(over: Partial<ImportSeen> = {}): ImportSeen {
  return imported({ type: 'Headless', addresses: '', ...over })
}

export const nowhere: Seen = { import: undefined, slices: [], dns: { 'web A': 'NXDOMAIN' } }

const both = 'True/Valid True/Exported'
export const ok = `${both} False/NoConflicts`
export const conflict = (reasons: string): string => `${both} True/${reasons}`
