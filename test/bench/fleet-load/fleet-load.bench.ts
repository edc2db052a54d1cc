// A whole fleet under load: one hub, and members in four processes, each with a real agent, real imports, slices and derived
// Services, and the view of a DNS. Not in CI: it takes minutes and both cores. FLEET_LOAD=MEMBERSxSERVICES makes it smaller.
import { loadavg } from 'node:os'
import { never, sleep } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import type { Bench, Row } from '../bench.ts'
import { processorSeconds } from '../processor.ts'
import { quantile } from '../quantile.ts'
import { Arrivals, type Cost, costOf } from './changes.ts'
import type { ChangePlan, MemberPlan } from './plan.ts'
import { type LoadFleet, residentMb, startLoadFleet } from './workers.ts'

const [memberCount = 100, serviceCount = 2_000] = (process.env.FLEET_LOAD ?? '100x2000')
  .split('x')
  .map(Number)
const importersEach = 10
const endpointsEach = 10
const changeCount = 100
/** One service in so many is headless, so that DNS answers with its endpoints. */
const headlessEvery = 10
const limitMs = 600_000

const groups = memberCount / importersEach
/** Services of one group, and how many of them are there when the cost of a change is measured the first time. */
const ownServices = serviceCount / groups
const fewServices = Math.max(1, Math.floor(ownServices / 10))

/** On each server one member of each group. */
function plans(): readonly (readonly MemberPlan[])[] {
  return Array.from({ length: importersEach }, (_, place) =>
    Array.from({ length: groups }, (_each, group): MemberPlan => {
      const numbers = Array.from({ length: ownServices }, (_number, n) => n)
      return {
        id: `m${place * groups + group}`,
        namespace: `group-${group}`,
        services: numbers
          .filter(number => number % importersEach === place)
          .map(number => ({
            name: `s${number}`,
            number,
            headless: number % headlessEvery === 0,
            endpoints: endpointsEach,
          })),
      }
    }),
  )
}

type Settled = { readonly tookMs: number; readonly processorS: number }

/** Exports what has these numbers; ends when every import, slice and derived Service is written. */
async function settle({ pids, workers }: LoadFleet, from: number, to: number): Promise<Settled> {
  const [startedMs, startedS] = [performance.now(), processorSeconds(pids)]
  const imports = to * groups * importersEach
  const derived = (to - Math.ceil(to / headlessEvery)) * groups * importersEach
  await workers.order(() => ({ type: 'export', from, to }))
  for (;;) {
    const now = await workers.counts()
    const tookMs = performance.now() - startedMs
    const text = `${(tookMs / 1_000).toFixed(0)} s: ${JSON.stringify(now)} of ${imports} and ${derived}\n`
    if (process.env.FLEET_LOAD_VERBOSE !== undefined) process.stderr.write(text)
    if (now.imports >= imports && now.slices >= imports && now.derived >= derived)
      return { tookMs, processorS: processorSeconds(pids) - startedS }
    if (tookMs > limitMs) throw new Error(`not settled in time: ${text}`)
    await sleep(systemClock, 500, never)
  }
}

type Round = { readonly cost: Cost; readonly times: readonly number[] }

/** Changes endpoints of headless services one after the other. No address comes twice in a run. */
async function change(fleet: LoadFleet, members: readonly MemberPlan[], below: number): Promise<Round> {
  const headless = members.flatMap(({ id, services }) =>
    services
      .filter(each => each.headless && each.number < below)
      .map(({ name }) => ({ member: id, service: name })),
  )
  const arrivals = new Arrivals(fleet.workers, importersEach)
  try {
    const cost = await costOf(fleet, changeCount, async () => {
      for (let n = 0; n < changeCount; n++) {
        const exporter = headless[(n * 37) % headless.length]
        const address = `10.${below % 200}.${Math.floor(n / 250)}.${(n % 250) + 1}`
        if (exporter !== undefined)
          await arrivals.of({ ...exporter, endpoint: 0, address } satisfies ChangePlan)
      }
    })
    return { cost, times: arrivals.times() }
  } finally {
    arrivals.stop()
  }
}

function costRows(few: Cost, all: Cost): readonly Row[] {
  const writes = (cost: Cost): number => cost.hubWrites + cost.sliceWrites + cost.otherWrites
  const [less, more] = [fewServices * groups, serviceCount]
  return [
    { what: `writes of one change, ${less} services`, unit: '', value: writes(few) },
    {
      what: `writes of one change, ${more} services`,
      unit: '',
      value: writes(all),
      baseline: writes(few),
      must: { ratioBelow: 1.05 },
    },
    {
      what: `processor time of one change, ${more} services`,
      unit: 'ms',
      value: all.processorMs,
      baseline: few.processorMs,
      must: { ratioBelow: 2 },
    },
  ]
}

export const fleetLoad: Bench = {
  name: 'fleet-load',
  async run(): Promise<readonly Row[]> {
    const servers = plans()
    const fleet = await startLoadFleet(servers)
    try {
      const first = await settle(fleet, 0, fewServices)
      const few = await change(fleet, servers.flat(), fewServices)
      const rest = await settle(fleet, fewServices, ownServices)
      const all = await change(fleet, servers.flat(), ownServices)
      const [load = 0] = loadavg()
      const what = `${memberCount} members, ${serviceCount} services of ${endpointsEach} endpoints`
      const settledMs = first.tookMs + rest.tookMs
      const processorS = first.processorS + rest.processorS
      return [
        { what: `${what}: settled`, unit: 's', value: settledMs / 1_000, must: { valueBelow: 120 } },
        { what: 'processor time of that, all processes', unit: 's', value: processorS },
        { what: 'an endpoint to the DNS of 10 members, p50', unit: 'ms', value: quantile(all.times, 0.5) },
        {
          what: 'an endpoint to the DNS of 10 members, p99',
          unit: 'ms',
          value: quantile(all.times, 0.99),
          must: { valueBelow: 1_000 },
        },
        ...costRows(few.cost, all.cost),
        {
          what: 'memory of the hub (RSS)',
          unit: 'MB',
          value: residentMb(fleet.hubPid),
          must: { valueBelow: 1_000 },
        },
        { what: 'load of the machine at the end', unit: '', value: load },
      ]
    } finally {
      await fleet.close()
    }
  },
}
