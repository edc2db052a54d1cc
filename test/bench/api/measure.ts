import { never, sleep } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { processorSeconds } from '../processor.ts'
import { type Case, casesOf, type Size } from './cases.ts'
import type { Figures } from './figures.ts'
import type { LoadProcess } from './load.ts'
import { resource } from './objects.ts'
import { namespaceNames, type Target, type TargetName } from './targets.ts'

export async function seedAll(targets: readonly Target[], load: LoadProcess, size: Size): Promise<void> {
  for (const { server } of targets) {
    await load.run({ type: 'seed', server, namespace: namespaceNames.small, count: size.small })
    await load.run({ type: 'seed', server, namespace: namespaceNames.large, count: size.large })
  }
}

/** Round after round, in each all loads, of each all servers one after the other. */
export async function measure(
  targets: readonly Target[],
  load: LoadProcess,
  size: Size,
  cases: readonly Case[] = casesOf(size),
): Promise<readonly Figures[]> {
  const all = cases.map(of => ({ of, perSecond: new Map<TargetName, number[]>() }))
  for (let round = 0; round < size.rounds; round++) {
    for (const { of, perSecond } of all) {
      for (const target of inOrder(targets, round)) {
        await rest(targets)
        const rate = await measureOne(of, target, load, { durationMs: size.durationMs, round })
        perSecond.set(target.name, [...(perSecond.get(target.name) ?? []), rate])
      }
    }
  }
  return all
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

/**
 * A kube-apiserver cuts off watchers when the machine is too slow for it, which would end the benchmark after many minutes:
 * it has some more tries. Ours has one.
 */
const triesOfCrds = 3

async function measureOne(of: Case, target: Target, load: LoadProcess, time: Time): Promise<number> {
  for (let tries = target.name === 'crds' ? triesOfCrds : 1; ; tries--) {
    try {
      return await tryOne(of, target, load, time)
    } catch (thrown) {
      if (tries === 1) throw thrown
      process.stdout.write(`  ${String(thrown)}: once more\n`)
    }
  }
}

type Time = { readonly durationMs: number; readonly round: number }

async function tryOne(
  of: Case,
  { name, server }: Target,
  load: LoadProcess,
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
