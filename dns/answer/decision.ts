/**
 * What to say to a well-formed query, in the order of the pipeline: class, transfers, zone, readiness, name, type.
 * Negative answers follow the rule that a name exists when it owns records, has something below it, or is pinned.
 */
import {
  classIn,
  type Decision,
  extendedError,
  type Query,
  type RecordSet,
  rcode,
  rrType,
  type Zone,
} from '../contract.ts'

export function emptyDecision(): Decision {
  return {
    rcode: rcode.noError,
    authoritative: false,
    set: undefined,
    soa: 'none',
    extendedError: extendedError.none,
    zone: undefined,
  }
}

/** A refusal: no records, not authoritative. */
export function refuse(decision: Decision, code: number, why: number = extendedError.none): void {
  decision.rcode = code
  decision.authoritative = false
  decision.set = undefined
  decision.soa = 'none'
  decision.extendedError = why
  decision.zone = undefined
}

/** `zones` with the longest origin first, where one lies in another. */
export function decide(query: Query, zones: readonly Zone[], decision: Decision): void {
  refuse(decision, rcode.refused)
  if (query.class !== classIn || query.type === rrType.axfr || query.type === rrType.ixfr) return
  for (const zone of zones) {
    const octets = query.nameOctets - zone.origin.length
    if (!isInside(query, zone, octets)) continue
    decision.zone = zone
    lookUp(query, zone, octets, decision)
    return
  }
  decision.extendedError = extendedError.notAuthoritative
}

/** Compared by labels: `xclusterset.local` is not in `clusterset.local`. */
function isInside(query: Query, { origin, labels }: Zone, octets: number): boolean {
  const first = query.labels - labels
  if (first < 0 || query.labelStarts[first] !== octets) return false
  for (let i = origin.length - 1; i >= 0; i--) if (query.name[octets + i] !== origin[i]) return false
  return true
}

/** `octets` of the query's name are relative to the zone. */
function lookUp(query: Query, zone: Zone, octets: number, decision: Decision): void {
  const first = zone.findOctets(query.name, octets)
  const isApex = octets === 0
  const wantsSoa = isApex && (query.type === rrType.soa || query.type === rrType.any)
  const set = first === undefined || wantsSoa ? undefined : ofType(first, query.type)
  if (!zone.loaded && !isKnownEarly(first, set !== undefined || wantsSoa, isApex)) {
    refuse(decision, rcode.servFail, extendedError.notReady)
    return
  }
  decision.authoritative = true
  decision.rcode = first === undefined ? rcode.nxDomain : rcode.noError
  decision.set = set
  if (wantsSoa) decision.soa = 'answer'
  else if (set === undefined) decision.soa = 'authority'
}

/** ANY gets one record set (RFC 8482 §4.1). */
function ofType(first: RecordSet, type: number): RecordSet | undefined {
  if (type === rrType.any) return first.type === 0 ? undefined : first
  for (let set: RecordSet | undefined = first; set !== undefined; set = set.next) {
    if (set.type === type) return set
  }
  return undefined
}

/**
 * Before the zone is loaded it holds the fixed names only. What they own can be said, and that the branches exist; that
 * anything else does not exist would be cached.
 */
function isKnownEarly(first: RecordSet | undefined, positive: boolean, isApex: boolean): boolean {
  if (positive) return true
  return (
    first !== undefined &&
    !isApex &&
    (first.type === 0 || first.type === rrType.a || first.type === rrType.aaaa)
  )
}
