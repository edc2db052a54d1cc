/** What was heard on the way from here to the responder → which hop is wrong, in words. */
import type { Said, Server } from './ask.ts'

export type Observed = {
  readonly zone: string
  /** The DNS of the cluster, as this machine uses it. */
  readonly resolver: Server
  /** What that says of the schema's version. */
  readonly version: Said
  /** The responder itself, when its address is known. */
  readonly responder:
    | {
        readonly server: Server
        /** Of the schema's version. */
        readonly udp: Said
        readonly tcp: Said
        /** Of the zone's own name: SERVFAIL while it does not know the services. */
        readonly apex: Said
      }
    | undefined
  /** A service that was asked for: what the two say. */
  readonly service:
    | { readonly name: string; readonly resolver: Said; readonly responder: Said | undefined }
    | undefined
}

export type Finding = { readonly good: boolean; readonly text: string }

const schemaVersion = '1.0.0'
const coreDnsVersion = '1.1.0'
const maxListed = 8

const good = (text: string): Finding => ({ good: true, text })
const bad = (text: string): Finding => ({ good: false, text })

/** In the order of the hops, from the responder to here. */
export function diagnose(observed: Observed): readonly Finding[] {
  const findings = [...responderFindings(observed), ...resolverFindings(observed)]
  // A service says nothing more while the way to it is broken.
  return findings.every(finding => finding.good) ? [...findings, ...serviceFindings(observed)] : findings
}

function place({ host, port }: Server): string {
  return port === 53 ? host : `${host} port ${port}`
}

function responderFindings({ zone, responder }: Observed): readonly Finding[] {
  if (responder === undefined) return []
  const { server, udp, tcp, apex } = responder
  const where = `the responder at ${place(server)}`
  if (udp.kind === 'silence' && tcp.kind === 'silence') {
    return [
      bad(
        `${where} does not answer (${udp.why}): is this the address of its Service, are its pods ready, does a NetworkPolicy forbid it?`,
      ),
    ]
  }
  if (udp.kind === 'silence')
    return [
      bad(`${where} answers over TCP but not over UDP (${udp.why}): its Service needs port 53 for both`),
    ]
  if (tcp.kind === 'silence')
    return [
      bad(
        `${where} answers over UDP but not over TCP (${tcp.why}): its Service needs port 53 for both, or large answers and NodeLocal DNSCache fail`,
      ),
    ]
  if (udp.status === 'REFUSED')
    return [bad(`${where} does not serve ${zone}: it was started with another --zone`)]
  if (udp.status !== 'NOERROR' || !udp.data.includes(schemaVersion))
    return [bad(`something else than isthmus answers at ${place(server)}: it says ${told(udp)}`)]
  if (apex.kind === 'answer' && apex.status === 'SERVFAIL')
    return [bad(`${where} does not know the services yet: it cannot read its API server, its log says why`)]
  return [good(`${where} serves ${zone} over UDP and TCP`)]
}

function resolverFindings({ zone, resolver, version, responder }: Observed): readonly Finding[] {
  const isNodeLocal = resolver.host.startsWith('169.254.')
  const where = `${isNodeLocal ? 'NodeLocal DNSCache' : "the cluster's DNS"} at ${place(resolver)}`
  if (version.kind === 'silence')
    return [bad(`${where} does not answer (${version.why}): nothing resolves from here, whatever the name`)]
  if (version.status === 'SERVFAIL') {
    const known = responder?.udp.kind === 'answer'
    const hop = known
      ? `it forwards ${zone} to another address than ${place(responder.server)}, or a NetworkPolicy forbids the way from it`
      : 'what it forwards to does not answer; give --responder to look there'
    return [bad(`${where} says SERVFAIL for ${zone}: ${hop}`)]
  }
  if (version.status !== 'NOERROR')
    return [
      bad(
        `${where} says ${version.status} for ${zone}: it does not forward the zone; ${isNodeLocal ? 'it has a configuration of its own, besides that of CoreDNS' : 'its configuration needs a block for it'}`,
      ),
    ]
  if (version.data.includes(coreDnsVersion))
    return [
      bad(
        `${where} serves ${zone} itself, from its plugin kubernetes or multicluster: remove the zone there, and forward it`,
      ),
    ]
  if (!version.data.includes(schemaVersion))
    return [bad(`${where} has ${zone} from somebody else: it says ${told(version)}`)]
  return [good(`${where} forwards ${zone}`)]
}

function serviceFindings({ service }: Observed): readonly Finding[] {
  if (service === undefined) return []
  const { name, resolver, responder } = service
  if (responder !== undefined && !isSame(responder, resolver)) {
    return [
      bad(
        `for ${name} the responder says ${told(responder)} and the cluster's DNS ${told(resolver)}: an old answer is kept, at most for the time of its TTL, or several responders differ`,
      ),
    ]
  }
  if (resolver.kind === 'answer' && resolver.status === 'NXDOMAIN') {
    return [
      bad(
        `${name} does not exist: there is no such ServiceImport here, or it is headless without a ready endpoint`,
      ),
    ]
  }
  if (resolver.kind === 'silence' || resolver.status !== 'NOERROR')
    return [bad(`${name} does not resolve: ${told(resolver)}`)]
  if (resolver.data.length === 0)
    return [bad(`${name} exists without an address: it has no ClusterSetIP yet`)]
  return [good(`${name} is ${listed(resolver.data)}`)]
}

function isSame(one: Said, other: Said): boolean {
  return whole(one) === whole(other)
}

function whole(said: Said): string {
  return said.kind === 'silence' ? told(said) : [said.status, ...said.data].join(' ')
}

function told(said: Said): string {
  if (said.kind === 'silence') return `nothing (${said.why})`
  return said.data.length === 0 ? said.status : `${said.status} ${listed(said.data)}`
}

/** Headless services may have thousands. */
function listed(data: readonly string[]): string {
  const shown = data.slice(0, maxListed).join(', ')
  return data.length > maxListed ? `${shown} and ${data.length - maxListed} more` : shown
}
