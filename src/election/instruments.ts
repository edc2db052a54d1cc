import type { Metrics } from '../kernel/metrics.ts'

/** Under the name that every component of Kubernetes has for it. */
export function leadershipGauge(name: string, metrics: Metrics): (isLeading: boolean) => void {
  const gauge = metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process leads: 1 for the leader, 0 for those that stand by.',
    labels: ['name'],
  })
  return isLeading => gauge.set(isLeading ? 1 : 0, { name })
}

/** What is read of a term is there no longer when it is over: the next leader has it. */
export function metricsOfTerm(metrics: Metrics, term: AbortSignal): Metrics {
  return {
    ...metrics,
    gaugeFrom: (options, read) => metrics.gaugeFrom(options, () => (term.aborted ? [] : read())),
  }
}
