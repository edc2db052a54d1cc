// Runs a case: in the order that is written, or in another with everything delivered more than once.
import { type MemoryFleet, memoryFleet } from '../support/memory-fleet.ts'
import type { Act, Case } from './case.ts'

/** What happens between two acts. */
export type Disturbance = 'nothing' | 'settle' | 'deliver again' | 'restart' | 'cut' | 'repeat'

/** The order of the acts of a phase, as indices, and what happens behind each. */
export type Order = readonly { readonly act: number; readonly next: Disturbance }[]

type Kept = Readonly<
  Record<string, { readonly uid: string | undefined; readonly ips: readonly string[] | undefined }>
>

export type Run = { readonly fleet: MemoryFleet; readonly before: Kept; readonly after: Kept }

export async function runCase(row: Case, orders?: readonly Order[]): Promise<Run> {
  const fleet = await fleetOf(row)
  let before: Kept = {}
  for (const [index, phase] of row.phases.entries()) {
    const order = orders?.[index]
    for (const { act, next } of order ?? phase.map((_, at) => ({ act: at, next: 'nothing' as const }))) {
      await phase[act]?.(fleet)
      await disturb(fleet, next, phase[act])
    }
    await fleet.settle()
    // Watches that ended, and writes that met each other, come back with their delays.
    if (order?.some(({ next }) => next !== 'nothing' && next !== 'settle')) {
      await fleet.clock.advance(35_000)
      await fleet.settle()
    }
    if (index === 0) before = await keptOf(fleet, row)
  }
  return { fleet, before, after: await keptOf(fleet, row) }
}

async function fleetOf({
  bare = [],
  families,
  members = ['c1', 'c2', 'c3'],
  routing,
}: Case): Promise<MemoryFleet> {
  const fleet = await memoryFleet({
    members: members.filter(id => !bare.includes(id)),
    ...(families === undefined ? {} : { families }),
    ...(routing === undefined ? {} : { routing }),
  })
  for (const id of bare) await fleet.join(id)
  await fleet.settle()
  return fleet
}

const disturbances: Readonly<
  Record<Disturbance, (fleet: MemoryFleet, act: Act | undefined) => Promise<void>>
> = {
  nothing: async () => undefined,
  settle: fleet => fleet.settle(),
  repeat: async (fleet, act) => act?.(fleet),
  'deliver again': async fleet => {
    for (const cluster of [fleet.hub, ...fleet.members.map(({ local }) => local)]) {
      cluster.compact()
      cluster.endWatches()
    }
  },
  restart: async fleet => {
    for (const member of fleet.members) {
      member.stop()
      member.start()
    }
  },
  cut: async fleet => {
    const [first] = fleet.members
    first?.hub.cut()
    await fleet.settle()
    first?.hub.restore()
  },
}

function disturb(fleet: MemoryFleet, how: Disturbance, act: Act | undefined): Promise<void> {
  return disturbances[how](fleet, act)
}

async function keptOf(fleet: MemoryFleet, { service = 'web' }: Case): Promise<Kept> {
  const found = await Promise.all(
    fleet.members.map(async member => {
      const there = await member.importOf(service)
      return [member.id, { uid: there?.metadata.uid, ips: there?.spec?.ips }] as const
    }),
  )
  return Object.fromEntries(found)
}

/** Runs it, hands it over, and ends it whatever comes. */
export async function withCase<R>(
  row: Case,
  orders: readonly Order[] | undefined,
  look: (run: Run) => Promise<R>,
): Promise<R> {
  const run = await runCase(row, orders)
  try {
    return await look(run)
  } finally {
    run.fleet.end()
  }
}
