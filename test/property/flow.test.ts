// What the fleet ends with depends on what is exported at the end, not on how it came to be.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ObjectMeta } from '../../src/api/meta.ts'
import { keyOf, type Ref, type Resource } from '../../src/cluster/cluster.ts'
import { never } from '../../src/kernel/abort.ts'
import {
  type MemoryFleet,
  type MemoryMember,
  memoryFleet,
  serviceExports,
  serviceImports,
  services,
  slices,
  textOf,
} from '../support/memory-fleet.ts'
import { headless, service, serviceExport, slice } from '../support/shop.ts'

type Step = {
  readonly on: string
  readonly act: keyof typeof acts
  readonly port: number
  readonly isHeadless: boolean
  readonly sliceName: string
  readonly address: string
}

const web = { namespace: 'shop', name: 'web' }

const acts = {
  service: async (fleet: MemoryFleet, { on, port, isHeadless }: Step) => {
    const ports = [{ name: 'http', protocol: 'TCP', port }]
    await fleet.member(on).apply(services, service('web', { ...(isHeadless ? headless : {}), ports }))
  },
  slice: async (fleet: MemoryFleet, { on, sliceName, address }: Step) => {
    await fleet.member(on).apply(slices, slice(sliceName, [address]))
  },
  'remove slice': (fleet: MemoryFleet, { on, sliceName }: Step) =>
    removed(fleet.member(on), slices, { namespace: 'shop', name: sliceName }),
  export: async (fleet: MemoryFleet, { on }: Step) => {
    await fleet.member(on).apply(serviceExports, serviceExport())
  },
  unexport: (fleet: MemoryFleet, { on }: Step) => removed(fleet.member(on), serviceExports, web),
  withdraw: (fleet: MemoryFleet, { on }: Step) => removed(fleet.member(on), services, web),
  restart: async (fleet: MemoryFleet, { on }: Step) => {
    fleet.member(on).stop()
    fleet.member(on).start()
  },
  'deliver again': async (fleet: MemoryFleet) => {
    fleet.hub.compact()
    fleet.hub.endWatches()
  },
  wait: (fleet: MemoryFleet) => fleet.clock.advance(1_000),
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    on: fc.constantFrom('c1', 'c2', 'c3'),
    act: fc.constantFrom<Step['act']>(
      'service',
      'service',
      'slice',
      'slice',
      'export',
      'export',
      'remove slice',
      'unexport',
      'withdraw',
      'restart',
      'deliver again',
      'wait',
    ),
    port: fc.constantFrom(80, 81),
    isHeadless: fc.boolean(),
    sliceName: fc.constantFrom('web-a', 'web-b'),
    address: fc.constantFrom('10.1.0.1', '10.1.0.2', '10.1.0.3'),
  }),
  { minLength: 8, maxLength: 40, size: 'max' },
)

async function removed(member: MemoryMember, of: Resource<unknown>, ref: Ref): Promise<void> {
  await member.remove(of, ref).catch((thrown: unknown) => {
    // It was not there.
    expect(thrown).toMatchObject({ reason: 'NotFound' })
  })
}

/** All that users see, without what tells when and in which order it came. */
async function outcomeOf(fleet: MemoryFleet): Promise<unknown> {
  const outcome: unknown[] = []
  for (const { local } of fleet.members) {
    const imports = await local.list(serviceImports, {}, never)
    const imported = await local.list(
      slices,
      { labelSelector: 'multicluster.kubernetes.io/source-cluster' },
      never,
    )
    const exports = await local.list(serviceExports, {}, never)
    outcome.push({
      imports: imports.items.map(({ spec, status }) => ({
        ...spec,
        ips: spec?.ips?.length,
        clusters: status?.clusters,
        conditions: textOf(status?.conditions),
      })),
      slices: imported.items.map(({ metadata, endpoints, ports }) => [keyOf(metadata), endpoints, ports]),
      exports: exports.items.map(({ status }) => textOf(status?.conditions)),
    })
  }
  return outcome
}

/** A fleet in which only the end was ever there, made in the order of the exports' age. */
async function freshFleet(of: MemoryFleet): Promise<MemoryFleet> {
  const fresh = await memoryFleet({ members: ['c1', 'c2', 'c3'] })
  for (const member of of.members) {
    await copy(member, fresh.member(member.id), services)
    await copy(member, fresh.member(member.id), slices)
  }
  const exported = await Promise.all(of.members.map(exportedAt))
  const inOrder = exported.filter(({ at }) => at !== '').sort((a, b) => (a.at < b.at ? -1 : 1))
  for (const [index, { id, at }] of inOrder.entries()) {
    // Equal ages stay equal: ties are part of what is compared.
    if (index > 0 && inOrder[index - 1]?.at !== at) await fresh.clock.advance(1_000)
    await fresh.member(id).apply(serviceExports, serviceExport())
  }
  return fresh
}

async function exportedAt({
  id,
  local,
}: MemoryMember): Promise<{ readonly id: string; readonly at: string }> {
  const there = await local.find(serviceExports, 'web', 'shop')
  return { id, at: there?.metadata.creationTimestamp ?? '' }
}

/** What users made. */
async function copy<O extends { readonly metadata: ObjectMeta }>(
  from: MemoryMember,
  to: MemoryMember,
  of: Resource<O>,
): Promise<void> {
  const { items } = await from.local.list(
    of,
    { labelSelector: '!multicluster.kubernetes.io/source-cluster' },
    never,
  )
  for (const item of items) {
    const { name, namespace = '', labels = {} } = item.metadata
    await to.apply(of, { ...item, metadata: { name, namespace, labels } })
  }
}

describe('the flow, whatever happens', () => {
  it('ends as if only the end had ever been', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (list, settleBetween) => {
        const fleet = await memoryFleet({ members: ['c1', 'c2', 'c3'] })
        for (const step of list) {
          await acts[step.act](fleet, step)
          if (settleBetween) await fleet.settle()
        }
        await fleet.settle()
        // Backoffs of writes that met each other, and of watches that were ended.
        await fleet.clock.advance(30_000)
        await fleet.settle()
        const fresh = await freshFleet(fleet)
        await fresh.settle()
        expect(await outcomeOf(fleet)).toEqual(await outcomeOf(fresh))
        fleet.end()
        fresh.end()
      }),
      { numRuns: 100 },
    )
  }, 120_000)
})
