// One service with 5,000 endpoints that change 50 times a second, in five clusters that import it: what is written, how long a
// change takes to their DNS, and whether names of endpoints go away meanwhile.
import { loadavg } from 'node:os'
import { never, sleep } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import type { Bench, Row } from '../bench.ts'
import { quantile } from '../quantile.ts'
import { Arrivals, type Cost, costOf } from './changes.ts'
import type { MemberPlan, ServicePlan } from './plan.ts'
import { type LoadFleet, startLoadFleet } from './workers.ts'

const memberCount = 5
const service: ServicePlan = { name: 'wide', number: 0, headless: true, endpoints: 5_000 }
const perSecond = 50
const seconds = 20
const changeCount = perSecond * seconds
const sliceSize = 100
const sliceCount = service.endpoints / sliceSize
const limitMs = 120_000

/** The first exports it. */
const servers = Array.from({ length: memberCount }, (_, at): readonly MemberPlan[] => [
  { id: `m${at}`, namespace: 'wide', services: at === 0 ? [service] : [] },
])

async function settle({ workers }: LoadFleet): Promise<void> {
  await workers.order(() => ({ type: 'export', from: 0, to: 1 }))
  const startedMs = performance.now()
  for (;;) {
    const { imports, slices } = await workers.counts()
    if (imports >= memberCount && slices >= memberCount * sliceCount) return
    if (performance.now() - startedMs > limitMs) throw new Error(`not settled: ${imports} and ${slices}`)
    await sleep(systemClock, 200, never)
  }
}

/** One slice after the other has a change, whether the changes before have arrived or not. Answers how many a second. */
async function change(arrivals: Arrivals): Promise<number> {
  const [startedMs, all] = [performance.now(), [] as Promise<void>[]]
  for (let n = 0; n < changeCount; n++) {
    const waitMs = startedMs + (1_000 * n) / perSecond - performance.now()
    if (waitMs > 0) await sleep(systemClock, waitMs, never)
    const round = Math.floor(n / sliceCount)
    const endpoint = (n % sliceCount) * sliceSize + (round % sliceSize)
    const address = `10.200.${Math.floor(n / 250)}.${(n % 250) + 1}`
    const arrival = arrivals.of({ member: 'm0', service: service.name, endpoint, address })
    // Told below, with the first of them.
    arrival.catch(() => undefined)
    all.push(arrival)
  }
  await Promise.all(all)
  return (1_000 * changeCount) / (performance.now() - startedMs)
}

function writeRows({ hubWrites, otherWrites, sliceWrites }: Cost): readonly Row[] {
  return [
    {
      what: 'slices written on the hub for one change',
      unit: '',
      value: hubWrites,
      must: { valueBelow: 1.001 },
    },
    {
      what: 'slices written in each importer for one change',
      unit: '',
      value: sliceWrites / memberCount,
      must: { valueBelow: 1.001 },
    },
    { what: 'other writes for one change', unit: '', value: otherWrites, must: { valueBelow: 0.001 } },
  ]
}

export const wideService: Bench = {
  name: 'wide-service',
  async run(): Promise<readonly Row[]> {
    const fleet = await startLoadFleet(servers)
    const arrivals = new Arrivals(fleet.workers, memberCount)
    try {
      await settle(fleet)
      let rate = Number.NaN
      const cost = await costOf(fleet, changeCount, async () => {
        rate = await change(arrivals)
      })
      const times = arrivals.times()
      const { largest } = await fleet.workers.counts()
      const [load = 0] = loadavg()
      return [
        {
          what: `changes a second, of ${perSecond} asked for`,
          unit: '',
          value: rate,
          must: { valueAtLeast: 45 },
        },
        {
          what: 'endpoints in the largest of 50 slices',
          unit: '',
          value: largest,
          must: { valueBelow: 101 },
        },
        ...writeRows(cost),
        { what: 'names that went away', unit: '', value: arrivals.flaps, must: { valueBelow: 1 } },
        {
          what: `1 of 5,000 endpoints, ${perSecond}/s, to 5 DNS: p50`,
          unit: 'ms',
          value: quantile(times, 0.5),
        },
        {
          what: `1 of 5,000 endpoints, ${perSecond}/s, to 5 DNS: p99`,
          unit: 'ms',
          value: quantile(times, 0.99),
          must: { valueBelow: 1_000 },
        },
        { what: 'processor time of one change', unit: 'ms', value: cost.processorMs },
        { what: 'load of the machine at the end', unit: '', value: load },
      ]
    } finally {
      arrivals.stop()
      await fleet.close()
    }
  },
}
