/** Numbers of the protocol by the names that metrics and the log use. */
import { rcode } from '../contract.ts'

/** Types that have a label of their own; clients choose types, so metrics put the rest under one. */
export const typeLabels: ReadonlyMap<number, string> = new Map([
  [1, 'A'],
  [2, 'NS'],
  [5, 'CNAME'],
  [6, 'SOA'],
  [12, 'PTR'],
  [13, 'HINFO'],
  [15, 'MX'],
  [16, 'TXT'],
  [28, 'AAAA'],
  [33, 'SRV'],
  [35, 'NAPTR'],
  [43, 'DS'],
  [48, 'DNSKEY'],
  [64, 'SVCB'],
  [65, 'HTTPS'],
  [251, 'IXFR'],
  [252, 'AXFR'],
  [255, 'ANY'],
])

export const rcodeLabels: readonly (readonly [number, string])[] = [
  [rcode.noError, 'NOERROR'],
  [rcode.formErr, 'FORMERR'],
  [rcode.servFail, 'SERVFAIL'],
  [rcode.nxDomain, 'NXDOMAIN'],
  [rcode.notImp, 'NOTIMP'],
  [rcode.refused, 'REFUSED'],
  [rcode.notAuth, 'NOTAUTH'],
  [rcode.badVers, 'BADVERS'],
]

const rcodeNames: ReadonlyMap<number, string> = new Map(rcodeLabels)

/** `TYPE` and the number where there is no name (RFC 3597 §5). */
export function typeName(type: number): string {
  return typeLabels.get(type) ?? `TYPE${type}`
}

export function rcodeName(code: number): string {
  return rcodeNames.get(code) ?? `RCODE${code}`
}
