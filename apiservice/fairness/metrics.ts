/** What operators are told of levels: names, labels and buckets are kube-apiserver's, so that dashboards made for it work. */
import type { Labels, MetricOptions, Metrics, Reading } from '../../src/kernel/metrics.ts'
import { type Level, rejections, waitBuckets } from './level.ts'

type Levels = Readonly<Record<string, Level>>

const both = ['priority_level', 'flow_schema']
const inFlight: MetricOptions = {
  name: 'apiserver_current_inflight_requests',
  help: 'Requests under way, watches excepted.',
  labels: ['request_kind'],
}
const nominal: MetricOptions = {
  name: 'apiserver_flowcontrol_nominal_limit_seats',
  help: 'Seats of a level.',
  labels: ['priority_level'],
}
const executing = under('apiserver_flowcontrol_current_executing_requests', 'Requests that have seats.')
const seats = under('apiserver_flowcontrol_current_executing_seats', 'Seats that requests have.')
const waiting = under('apiserver_flowcontrol_current_inqueue_requests', 'Requests that wait for a seat.')
const dispatched = under('apiserver_flowcontrol_dispatched_requests_total', 'Requests that were let in.')
const rejected = under(
  'apiserver_flowcontrol_rejected_requests_total',
  'Requests that were not let in.',
  'reason',
)
const waited: MetricOptions = {
  ...under(
    'apiserver_flowcontrol_request_wait_duration_seconds',
    'How long requests waited for a seat; most do not at all.',
    'execute',
  ),
  buckets: waitBuckets,
}

export function exportLevels(
  metrics: Metrics,
  levels: Levels,
  running: { readonly readOnly: number; readonly mutating: number },
): void {
  const all = Object.entries(levels).map(([name, level]) => ({
    level,
    labels: { priority_level: name, flow_schema: name },
  }))
  const each = (read: (level: Level) => number): readonly Reading[] =>
    all.map(({ labels, level }) => ({ labels, value: read(level) }))
  metrics.gaugeFrom(inFlight, () =>
    Object.entries(running).map(([kind, value]) => ({ labels: { request_kind: kind }, value })),
  )
  metrics.gaugeFrom(nominal, () =>
    all
      .filter(({ level }) => Number.isFinite(level.limits.seats))
      .map(({ labels, level }) => ({
        labels: { priority_level: labels.priority_level },
        value: level.limits.seats,
      })),
  )
  metrics.gaugeFrom(executing, () => each(level => level.executing))
  metrics.gaugeFrom(seats, () => each(level => level.heldSeats))
  metrics.gaugeFrom(waiting, () => each(level => level.queued))
  metrics.counterFrom(dispatched, () => each(level => level.dispatched))
  metrics.counterFrom(rejected, () => all.flatMap(({ labels, level }) => rejectionsOf(labels, level)))
  metrics.histogramFrom(waited, () =>
    all.flatMap(({ labels, level: { waits } }) => [
      ...waits.letIn.readings({ ...labels, execute: 'true' }),
      ...waits.rejected.readings({ ...labels, execute: 'false' }),
    ]),
  )
}

function rejectionsOf(labels: Labels, { rejected: counts }: Level): readonly Reading[] {
  return rejections
    .filter(reason => counts[reason] > 0)
    .map(reason => ({ labels: { ...labels, reason }, value: counts[reason] }))
}

function under(name: string, help: string, ...more: readonly string[]): MetricOptions {
  return { name, help, labels: [...both, ...more] }
}
