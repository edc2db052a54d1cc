// The laws of the merge, on exports of any shape.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExportedPort } from '../../src/api/kinds/exported-service.ts'
import type { Contribution, Merged } from '../../src/contract.ts'
import { conflictsIn, mergeForAll, type Outcome } from '../../src/merge/audiences.ts'
import { forecast, foreseenOf } from '../../src/merge/forecast.ts'
import { merge } from '../../src/merge/merge.ts'
import { portText } from '../../src/merge/ports.ts'
import { precedence } from '../../src/merge/precedence.ts'
import { contribution } from '../support/contributions.ts'

const arbitraryPort = fc.record(
  {
    name: fc.constantFrom('', 'http', 'web', 'dns'),
    protocol: fc.constantFrom('TCP' as const, 'UDP' as const),
    port: fc.constantFrom(53, 80, 81),
    appProtocol: fc.constantFrom('http', 'grpc'),
  },
  { requiredKeys: ['protocol', 'port'] },
)

const arbitraryContribution = fc
  .record({
    second: fc.integer({ min: 1, max: 3 }),
    accepted: fc.integer({ min: 1, max: 3 }),
    type: fc.constantFrom('ClusterSetIP' as const, 'Headless' as const),
    ports: fc.array(arbitraryPort, { maxLength: 3 }),
    ipFamilies: fc.subarray(['IPv4' as const, 'IPv6' as const]),
    labels: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2')),
    annotations: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2')),
    sessionAffinity: fc.constantFrom('None', 'ClientIP'),
    trafficDistribution: fc.constantFrom('PreferClose', undefined),
  })
  .map(
    ({ second, accepted, trafficDistribution, ...rest }) =>
      (cluster: string) =>
        contribution(`${cluster}@${second}`, {
          ...rest,
          acceptedMs: accepted * 1000,
          ...(trafficDistribution === undefined ? {} : { trafficDistribution }),
        }),
  )

const reasonsOf = (list: readonly Contribution[]) => merge(list)?.conflicts.map(({ reason }) => reason) ?? []

/** The exports that a cluster may import. */
const seenBy = (id: string, list: readonly Contribution[]) =>
  list.filter(c => c.cluster === id || c.consumers === undefined || c.consumers.includes(id))

/** What a cluster is given; more than one would be a fault. */
function importsOf(outcome: Outcome | undefined, id: string): readonly Merged[] {
  if (outcome === undefined) return []
  const { all, audiences } = outcome
  if (audiences === undefined) return [all]
  const named = audiences.filter(({ consumers }) => consumers?.includes(id))
  const found = named.length > 0 ? named : audiences.filter(({ consumers }) => consumers === undefined)
  return found.map(({ merged }) => merged)
}

/** As a member knows the others: digests of all maps, and the maps of whoever is the oldest so far. */
function warningsOf(
  others: readonly Contribution[],
  before: Contribution | undefined,
  after: Contribution,
): readonly string[] {
  const used = merge(before === undefined ? others : [...others, before])
  const maps = used === undefined ? [] : [used.labels, used.annotations]
  return forecast({ others: others.map(foreseenOf), maps, before, after })
}

type Told = {
  readonly field: string
  readonly winner: string
  /** Undefined when the value is not named. */
  readonly used: string | undefined
  readonly loser: string
  readonly lost: string
  readonly losers: number
}

const form =
  /^(?<field>type|sessionAffinity|trafficDistribution|exported\w+): (?<used>.+) of (?:this cluster|cluster (?<winner>\S+)) is used, not (?<lost>.+) of (?:this cluster|cluster (?<loser>\w+))(?: and (?<more>\d+) more)?: /

/** What the sentences say of all but ports and families. */
function disputesIn(warnings: readonly string[], own: string): readonly Told[] {
  return warnings.flatMap(text => {
    const groups = form.exec(text)?.groups
    if (groups === undefined) return []
    const { field = '', used, winner = own, lost = '', loser = own, more = '0' } = groups
    return [
      { field, winner, used: used === 'the value' ? undefined : used, loser, lost, losers: 1 + Number(more) },
    ]
  })
}

/** The same, from what the exports say. */
function disputesOf(
  others: readonly Contribution[],
  before: Contribution | undefined,
  after: Contribution,
): readonly Told[] {
  const [winner = after, ...younger] = [...others, after].sort(precedence)
  const [earlier] = [...others, ...(before === undefined ? [] : [before])].sort(precedence)
  return Object.entries(saidOf(winner)).flatMap(([field, used]) => {
    const says = (each: Contribution | undefined): string | undefined => each && saidOf(each)[field]
    const differing = younger.filter(each => says(each) !== used)
    const brought = differing.filter(each => says(each) === says(earlier))
    const losers = differing.includes(after) ? [after] : brought
    const [first] = losers
    if (first === undefined) return []
    // Maps are known of the export that was the oldest so far, of this cluster, and when they are empty.
    const known = [earlier, before, after].flatMap(each =>
      each === undefined ? [] : [saidOf(each).exportedLabels, saidOf(each).exportedAnnotations],
    )
    const isNamed = !field.startsWith('exported') || ['{}', ...known].includes(used)
    const { cluster: loser } = first
    const lost = says(first) ?? ''
    return [
      { field, winner: winner.cluster, used: isNamed ? used : undefined, loser, lost, losers: losers.length },
    ]
  })
}

/** What each export says of each field but ports, from what the users wrote. */
function saidOf({ labels, annotations, service }: Contribution): Readonly<Record<string, string>> {
  const text = (map: Readonly<Record<string, string>>): string =>
    JSON.stringify(Object.fromEntries(Object.entries(map).sort()))
  return {
    type: service.type,
    sessionAffinity: service.sessionAffinity ?? 'None',
    exportedAnnotations: text(annotations),
    exportedLabels: text(labels),
    trafficDistribution: service.trafficDistribution ?? 'no value',
  }
}

describe('merge, whatever the exports', () => {
  const exports = fc
    .array(arbitraryContribution, { minLength: 1, maxLength: 5 })
    .map(makers => makers.map((make, index) => make(`c${index}`)))

  it('does not depend on the order of arrival', () => {
    const shuffled = exports.chain(list =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    )
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        expect(merge(other)).toEqual(merge(list))
      }),
      { numRuns: 1_000 },
    )
  })

  it('never has two ports of one name or one socket, and has one for each that an export has', () => {
    fc.assert(
      fc.property(exports, list => {
        const merged = merge(list)
        const names = merged?.ports.map(p => p.name ?? '') ?? []
        const sockets = merged?.ports.map(p => `${p.port}/${p.protocol}`) ?? []
        expect(new Set(names).size).toBe(names.length)
        expect(new Set(sockets).size).toBe(sockets.length)
        for (const port of list.flatMap(c => c.service.ports)) {
          const taken = names.includes(port.name ?? '') || sockets.includes(`${port.port}/${port.protocol}`)
          expect(taken).toBe(true)
        }
      }),
    )
  })

  it('has a port conflict exactly when some cluster’s ports differ from the merged ones', () => {
    fc.assert(
      fc.property(exports, list => {
        const merged = merge(list)
        const text = (own: readonly ExportedPort[]): string => own.map(portText).sort().join()
        const differs = list.some(c => text(c.service.ports) !== text(merged?.ports ?? []))
        expect(merged?.conflicts.some(c => c.reason === 'PortConflict')).toBe(differs)
      }),
    )
  })

  it('is forecast: silence means that the export is used as it is, and brings no conflict', () => {
    fc.assert(
      fc.property(exports, list => {
        const [after, ...others] = list
        if (after === undefined || others.length === 0) return
        const isSilent = warningsOf(others, undefined, after).length === 0
        const before = reasonsOf(others)
        const brought = reasonsOf(list).filter(reason => !before.includes(reason))
        const merged = merge(list)
        const used = merged?.ports.map(portText) ?? []
        const isUsed = after.service.ports.every(port => used.includes(portText(port)))
        if (reasonsOf(list).length === 0) expect(isSilent).toBe(true)
        if (brought.length > 0 || !isUsed) expect(isSilent).toBe(false)
      }),
      { numRuns: 1_000 },
    )
  })

  it('is forecast: the warnings of a write are the conflicts that it then has or brings, no more and no less', () => {
    const writes = fc.tuple(
      fc.array(arbitraryContribution, { minLength: 1, maxLength: 4 }),
      fc.option(arbitraryContribution, { nil: undefined }),
      arbitraryContribution,
      fc.integer({ min: 0, max: 4 }),
    )
    fc.assert(
      fc.property(writes, ([makers, makeBefore, makeAfter, place]) => {
        const own = `c${place}`
        const others = makers.map((make, index) => make(`c${index >= place ? index + 1 : index}`))
        const [before, after] = [makeBefore?.(own), makeAfter(own)]
        const found = disputesIn(warningsOf(others, before, after), own)
        expect(found).toEqual(disputesOf(others, before, after))
        const conflicts = merge([...others, after])?.conflicts.map(({ message }) => message) ?? []
        for (const { field, used, winner } of found) {
          const start = `${field}: using ${used ?? ''}`
          const isFound = conflicts.some(text => text.startsWith(start) && text.includes(`(${winner})`))
          expect(isFound).toBe(true)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  describe('for chosen clusters', () => {
    const ids = ['c0', 'c1', 'c2', 'c3', 'c4', 'c8', 'c9']
    const lists = fc.array(fc.option(fc.subarray(ids), { nil: undefined }), { minLength: 5, maxLength: 5 })
    const chosen = fc
      .tuple(exports, lists)
      .map(([list, consumers]) => list.map((each, index) => ({ ...each, consumers: consumers[index] })))

    it('is for each of them what the exports that it may import come to, and nothing where it may import none', () => {
      fc.assert(
        fc.property(chosen, list => {
          const outcome = mergeForAll(list)
          for (const id of [...ids, 'later'])
            expect(importsOf(outcome, id)).toEqual([merge(seenBy(id, list))].filter(m => m !== undefined))
          expect(mergeForAll([...list].reverse())).toEqual(outcome)
        }),
        { numRuns: 1_000 },
      )
    })

    it('tells each export the conflicts of all clusters that import it, and no others', () => {
      fc.assert(
        fc.property(chosen, list => {
          const outcome = mergeForAll(list)
          for (const { cluster } of list) {
            const seen = [...ids, 'later'].map(id => seenBy(id, list))
            const shared = seen.filter(each => each.some(c => c.cluster === cluster))
            const told = outcome === undefined ? [] : conflictsIn(outcome, cluster)
            expect(new Set(told.map(({ reason }) => reason))).toEqual(new Set(shared.flatMap(reasonsOf)))
          }
        }),
        { numRuns: 1_000 },
      )
    })
  })

  it('is the same again when what it made is exported again', () => {
    fc.assert(
      fc.property(exports, list => {
        const merged = merge(list)
        if (merged === undefined) return
        const { type, ports: mergedPorts, ipFamilies, labels } = merged
        const again = merge([
          contribution('c9@1', {
            type,
            ports: mergedPorts,
            ipFamilies,
            labels,
            ...(merged.trafficDistribution === undefined
              ? {}
              : { trafficDistribution: merged.trafficDistribution }),
          }),
        ])
        expect(again?.conflicts).toEqual([])
        expect(again?.ports).toEqual(mergedPorts)
        expect(again?.ipFamilies).toEqual(ipFamilies)
      }),
    )
  })
})
