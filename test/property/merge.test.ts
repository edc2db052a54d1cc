// The laws of the merge, on exports of any shape.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExportedPort } from '../../src/api/kinds/exported-service.ts'
import type { Contribution } from '../../src/contract.ts'
import { forecast } from '../../src/merge/forecast.ts'
import { merge } from '../../src/merge/merge.ts'
import { portText } from '../../src/merge/ports.ts'
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
        const isSilent = forecast({ others, before: undefined, after }).length === 0
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
