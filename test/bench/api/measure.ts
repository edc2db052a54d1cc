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

/** Round after round, in each all loads, of each all servers one after the other, in another order each time. */
export async function measure(
  targets: readonly Target[],
  load: LoadProcess,
  size: Size,
  cases: readonly Case[] = casesOf(size),
): Promise<readonly Figures[]> {
  const all = cases.map(of => ({ of, perSecond: new Map<TargetName, number[]>() }))
  for (let round = 0; round < size.rounds; round++) {
    for (const { of, perSecond } of all) {
      const first = round % targets.length
      for (const target of [...targets.slice(first), ...targets.slice(0, first)]) {
        const rate = await measureOne(of, target, load, { durationMs: size.durationMs, round })
        perSecond.set(target.name, [...(perSecond.get(target.name) ?? []), rate])
      }
    }
  }
  return all
}

async function measureOne(
  of: Case,
  { name, server }: Target,
  load: LoadProcess,
  { durationMs, round }: { readonly durationMs: number; readonly round: number },
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
