/** What only one of several servers of a store may do, and when this one does it. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { guardHeader } from '../api/write-guard.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { type ElectionTiming, runElection, type Term } from '../election/election.ts'
import { metricsOfTerm } from '../election/instruments.ts'
import { clusterOfTerm } from '../election/of-term.ts'
import { background, ended } from '../kernel/abort.ts'
import { steadyClock } from '../kernel/clock.ts'
import type { Context, Running } from './context.ts'
import type { RunningServer } from './server.ts'

/** Resolves when it has begun; goes on until the signal of the context aborts. */
export type Duty = (cluster: Cluster, context: Context) => Promise<void>

export type Leadership = {
  /** Of the Lease, in `kube-system`. */
  readonly name: string
  /** Absent: no other server has the store. */
  readonly timing: ElectionTiming | undefined
  readonly duties: readonly Duty[]
}

/**
 * With nobody to share the store with it resolves when all duties have begun; else at once, and they begin when this
 * server leads. Closing gives the lease back.
 */
export async function takeDuties(
  leadership: Leadership,
  running: RunningServer,
  context: Context,
): Promise<Running> {
  const stop = new AbortController()
  const inner = { ...context, signal: AbortSignal.any([context.signal, stop.signal]) }
  const { timing } = leadership
  if (timing === undefined) {
    for (const duty of leadership.duties) await duty(running.operator, inner)
    return { close: async () => stop.abort() }
  }
  const over = Promise.withResolvers<void>()
  background('leader election', context.log, inner.signal, signal =>
    elect({ ...leadership, timing }, running, { ...inner, signal }).finally(() => over.resolve()),
  )
  return {
    close: () => {
      stop.abort(new Error('the server stops'))
      return over.promise
    },
  }
}

function elect(
  { name, timing, duties }: Leadership & { readonly timing: ElectionTiming },
  running: RunningServer,
  context: Context,
): Promise<void> {
  const { clock, metrics, signal } = context
  const log = context.log.child({ election: name })
  const options = {
    cluster: running.operator,
    lease: { namespace: 'kube-system', name },
    identity: `${hostname()}_${randomUUID()}`,
    timing,
    clock: steadyClock,
    timeOfDay: clock,
    log,
    metrics,
  }
  return runElection(options, term => serve(term, { running, duties, context }), signal)
}

type Service = {
  readonly running: RunningServer
  readonly duties: readonly Duty[]
  readonly context: Context
}

/** Each term has a client of its own: what it sends names the term. */
async function serve(term: Term, { running, duties, context }: Service): Promise<void> {
  const client = await running.operatorWith({ [guardHeader]: term.guard })
  try {
    const cluster = clusterOfTerm(client, term)
    const metrics = metricsOfTerm(context.metrics, term.signal)
    for (const duty of duties) await duty(cluster, { ...context, metrics, signal: term.signal })
    await ended(term.signal)
  } finally {
    client.close()
  }
}
