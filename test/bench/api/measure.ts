import { never, sleep } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { processorSeconds } from '../processor.ts'
import { type Case, casesOf, type Size } from './cases.ts'
import type { Figures } from './figures.ts'
import type { LoadProcess } from './load.ts'
import { resource } from './objects.ts'
import { namespaceNames, type Target, type TargetName } from './targets.ts'

export async function seedAll(targets: readonly Target[], load: Loads, size: Size): Promise<void> {
  for (const { server } of targets) {
    await load.run({ type: 'seed', server, namespace: namespaceNames.small, count: size.small })
    await load.run({ type: 'seed', server, namespace: namespaceNames.large, count: size.large })
  }
}

/** What makes the load. */
export type Loads = Pick<LoadProcess, 'run' | 'expect'>

/**
 * Round after round, in each all loads, of each all servers one after the other. A kube-apiserver cuts off watchers when
 * the machine is too slow for it, which must not end the benchmark after many minutes: that round counts for no server, and
 * another one is made of this load, up to `mostRounds` times as many. A load without any has NaN, which is below any floor.
 */
export async function measure(
  targets: readonly Target[],
  load: Loads,
  size: Size,
  cases: readonly Case[] = casesOf(size),
): Promise<readonly Figures[]> {
  const all = cases.map(of => ({ of, rounds: [] as ReadonlyMap<TargetName, number>[] }))
  const { durationMs } = size
  for (let round = 0; round < mostRounds * size.rounds; round++) {
    for (const { of, rounds } of all.filter(one => one.rounds.length < size.rounds)) {
      const rates = await measureRound(of, inOrder(targets, round), load, { durationMs, round })
      if (rates !== undefined) rounds.push(rates)
    }
  }
  return all.map(({ of, rounds }) => ({ of, perSecond: byTarget(targets, rounds) }))
}

const mostRounds = 3

function byTarget(
  targets: readonly Target[],
  rounds: readonly ReadonlyMap<TargetName, number>[],
): Figures['perSecond'] {
  const measured = rounds.length > 0 ? rounds : [new Map<TargetName, number>()]
  return new Map(
    targets.map(({ name }) => [name, measured.map(rates => rates.get(name) ?? Number.NaN)] as const),
  )
}

/** Undefined when the CRDs' server could not do it. */
async function measureRound(
  of: Case,
  targets: readonly Target[],
  load: Loads,
  time: Time,
): Promise<ReadonlyMap<TargetName, number> | undefined> {
  const rates = new Map<TargetName, number>()
  for (const target of targets) {
    await rest(targets)
    try {
      rates.set(target.name, await measureOne(of, target, load, time))
    } catch (thrown) {
      if (target.name !== 'crds') throw thrown
      process.stdout.write(`  ${String(thrown)}: a round that does not count\n`)
      return undefined
    }
  }
  return rates
}

/**
 * All of them, in each round from another one on and in other strides, so that none is always behind the same one. For two
 * or five, or another prime number of them.
 */
export function inOrder<T>(all: readonly T[], round: number): readonly T[] {
  const stride = 1 + (round % Math.max(1, all.length - 1))
  return all.flatMap((_, index) => all[(round + index * stride) % all.length] ?? [])
}

const lookMs = 200
/** Of one processor, for all servers together. */
const atRest = 0.15
/** Ours would think itself without work after twenty seconds, which five servers must not add up to. */
const restAtMostMs = 3_000

/** What servers still do for the load before, such as collecting its garbage, is not to burden another one. */
async function rest(targets: readonly Target[]): Promise<void> {
  const pids = [...new Set(targets.flatMap(({ pids, besides }) => [...pids, ...besides]))]
  for (let waitedMs = 0; waitedMs < restAtMostMs; waitedMs += lookMs) {
    const before = processorSeconds(pids)
    await sleep(systemClock, lookMs, never)
    if (processorSeconds(pids) - before < (atRest * lookMs) / 1_000 + 0.001) return
  }
}

type Time = { readonly durationMs: number; readonly round: number }

async function measureOne(
  of: Case,
  { name, server }: Target,
  load: Loads,
  { durationMs, round }: Time,
): Promise<number> {
  try {
    const job = of.job(server, durationMs, round)
    const { done, seconds } = await load.run(job)
    if (job.type === 'create') {
      const path = `${server.prefix}/namespaces/${job.namespace}/${resource}`
      await load.expect(server, [{ method: 'DELETE', path }], 200)
    }
    return done / seconds
  } catch (cause) {
    throw new Error(`${of.what} on ${name}: ${String(cause)}`, { cause })
  }
}
