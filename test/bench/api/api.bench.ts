// What the API server does in a second beside kube-apiserver with CRDs and a bare Node server, all in one run.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { never, sleep } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import type { Lab } from '../../e2e/lab/clusters.ts'
import { builtKubernetes } from '../../e2e/lab/programs.ts'
import { temporaryFolder } from '../../support/fleet.ts'
import type { Bench, Row, RunOptions } from '../bench.ts'
import { pssMegabytes } from '../memory.ts'
import { type Case, casesOf, shortSize, wholeSize } from './cases.ts'
import { comparisons, type Figures, floorOf, isBelow, ratioOf } from './figures.ts'
import { startKubernetes, startLab } from './kubernetes-targets.ts'
import { LoadProcess } from './load.ts'
import { measure, seedAll } from './measure.ts'
import { type Memory, tableOf } from './report.ts'
import { type Starting, startBare, startOurs, type Target } from './targets.ts'

/**
 * What every server has of each load before it is measured. A server of ours comes to its speed after some ten thousand
 * requests of a kind, when V8 has compiled what they need; servers run for longer than that.
 */
const warmUpMs = 3_000

/** What every server has to give back memory that the load has left behind, before it is measured. */
const quietMs = 45_000

/** Ours at most this share of kube-apiserver and etcd. */
const memoryShare = 1 / 6

type Measured = { readonly figures: readonly Figures[]; readonly memory: Memory }

async function withTargets<T>(
  run: (targets: readonly Target[], load: LoadProcess) => Promise<T>,
): Promise<T> {
  const temporary = temporaryFolder()
  const load = new LoadProcess()
  const opened: Starting['opened'] = []
  try {
    const lab = await labIfBuilt(opened)
    const folder = join(lab?.folder ?? temporary.path, 'beside')
    mkdirSync(folder)
    const starting = { folder, load, opened }
    const ours = await startOurs(starting)
    const bare = await startBare(starting)
    const others = lab === undefined ? [] : await startKubernetes(lab, bare, starting)
    return await run([ours, bare, ...others], load)
  } finally {
    load.stop()
    for (const close of opened.toReversed()) await close()
    temporary.dispose()
  }
}

async function labIfBuilt(opened: Starting['opened']): Promise<Lab | undefined> {
  if (!builtKubernetes()) {
    process.stdout.write(
      '  without kube-apiserver and etcd, which are not built: npm run programs builds them\n',
    )
    return undefined
  }
  const lab = await startLab()
  opened.push(() => lab.stop())
  return lab
}

function memoryOf(targets: readonly Target[]): Memory {
  return new Map(
    targets.map(({ name, pids }) => [name, pids.reduce((sum, pid) => sum + pssMegabytes(pid), 0)]),
  )
}

/** With `gate` what is below its floor is measured once more, and that is what counts. */
function measureAll({ short, gate }: RunOptions): Promise<Measured> {
  const size = short ? shortSize : wholeSize
  return withTargets(async (targets, load) => {
    await seedAll(seeded(targets), load, size)
    if (!short) await measure(targets, load, { ...size, rounds: 1, durationMs: warmUpMs })
    const first = await measure(targets, load, size, casesOf(size))
    if (!short) await sleep(systemClock, quietMs, never)
    const memory = memoryOf(targets)
    const low = gate ? first.filter(isBelow).map(({ of }) => of) : []
    // What comes now takes minutes, and may fail.
    if (low.length > 0) process.stdout.write(`${tableOf(first, memory)}  once more: ${nameAll(low)}\n`)
    const again = await measure(targets, load, size, low)
    return { figures: first.map(one => again.find(({ of }) => of === one.of) ?? one), memory }
  })
}

function nameAll(cases: readonly Case[]): string {
  return cases.map(({ what }) => what).join(', ')
}

/** Without the bare server as it is seen through the aggregator: its objects are there. */
function seeded(targets: readonly Target[]): readonly Target[] {
  return targets.filter(({ name }) => name !== 'bare aggregated')
}

function rowsOf({ figures, memory }: Measured, judges: boolean): readonly Row[] {
  const ratios = figures.flatMap(one =>
    comparisons.flatMap((comparison): readonly Row[] => {
      const ratio = ratioOf(one, comparison)
      const floor = judges ? floorOf(one, comparison) : undefined
      if (ratio === undefined) return []
      const { ours, other } = comparison
      return [
        {
          what: `${one.of.what}: ${ours} to ${other}`,
          unit: '×',
          value: ratio.median,
          spread: [ratio.least, ratio.most],
          ...(floor === undefined ? {} : { must: { valueAtLeast: floor } }),
        },
      ]
    }),
  )
  const [value, baseline] = [memory.get('ours'), memory.get('crds')]
  if (value === undefined || baseline === undefined) return ratios
  const must = judges ? { must: { ratioBelow: memoryShare } } : {}
  return [...ratios, { what: 'memory after the load', unit: 'MB', value, baseline, ...must }]
}

export const apiThroughput: Bench = {
  name: 'API server throughput',
  hasShortForm: true,
  async run(options) {
    const measured = await measureAll(options)
    options.table?.(tableOf(measured.figures, measured.memory))
    return rowsOf(measured, !options.short)
  },
}
