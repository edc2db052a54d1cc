import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  type MetricObjectWithValues,
  type MetricValueWithName,
  Registry,
} from 'prom-client'
import type { HistogramReading, MetricOptions, Metrics, Reading } from '../kernel/metrics.ts'

export type PrometheusOptions = {
  /** Also what the process as a whole uses: memory, CPU, delay of the event loop. */
  readonly processMetrics?: boolean
}

/** Instruments with a registry of their own. Asking for one name with another type throws. */
export function prometheus(options: PrometheusOptions = {}): Metrics {
  const register = new Registry()
  if (options.processMetrics === true) collectDefaultMetrics({ register })
  const made = new Map<string, unknown>()
  /** What is read when somebody asks, by name: of those who were asked for one name, the last. */
  const readers = new Map<string, () => number | readonly Reading[]>()
  const once = <T>(name: string, type: new (...args: never[]) => T, make: () => T): T => {
    const known = made.get(name) ?? make()
    if (!(known instanceof type)) throw new Error(`metric ${name} exists with another type`)
    made.set(name, known)
    return known
  }
  return {
    counter(metric) {
      const counter = once(
        metric.name,
        Counter,
        () => new Counter({ ...configOf(metric), registers: [register] }),
      )
      return { add: (labels = {}, by = 1) => counter.inc(labels, by) }
    },
    counterFrom(metric, read) {
      readers.set(metric.name, read)
      const collect = function (this: Counter): void {
        this.reset()
        for (const { labels, value } of readingsOf(readers, metric.name)) this.inc(labels, value)
      }
      once(metric.name, Counter, () => new Counter({ ...configOf(metric), collect, registers: [register] }))
    },
    gauge(metric) {
      const gauge = once(metric.name, Gauge, () => new Gauge({ ...configOf(metric), registers: [register] }))
      return { set: (value, labels = {}) => gauge.set(labels, value) }
    },
    gaugeFrom(metric, read) {
      readers.set(metric.name, read)
      const collect = function (this: Gauge): void {
        this.reset()
        for (const { labels, value } of readingsOf(readers, metric.name)) this.set(labels, value)
      }
      once(metric.name, Gauge, () => new Gauge({ ...configOf(metric), collect, registers: [register] }))
    },
    histogram(metric) {
      const make = () => new Histogram({ ...configOf(metric), ...bucketsOf(metric), registers: [register] })
      const histogram = once(metric.name, Histogram, make)
      return { observe: (value, labels = {}) => histogram.observe(labels, value) }
    },
    histogramFrom(metric, read) {
      const { name, help } = metric
      // The registry asks a metric for its name and, when scraped, for `get()`, and for nothing else.
      const source = { name, get: async () => histogramOf(metric, read()), help } as unknown as Metric
      register.registerMetric(source)
    },
    text: () => register.metrics(),
  }
}

function readingsOf(
  readers: ReadonlyMap<string, () => number | readonly Reading[]>,
  name: string,
): readonly Reading[] {
  const read = readers.get(name)?.() ?? []
  return typeof read === 'number' ? [{ labels: {}, value: read }] : read
}

function configOf({ name, help, labels = [] }: MetricOptions) {
  return { name, help, labelNames: [...labels] }
}

function bucketsOf({ buckets }: MetricOptions) {
  return buckets === undefined ? {} : { buckets: [...buckets] }
}

function histogramOf(
  { name, help, buckets = [] }: MetricOptions,
  readings: readonly HistogramReading[],
): MetricObjectWithValues<MetricValueWithName<string>> {
  const values = readings.flatMap(({ labels, counts, sum }) => {
    const bounds = [...buckets.map(String), '+Inf']
    let total = 0
    const cumulative = bounds.map((le, at) => {
      total += counts[at] ?? 0
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total }
    })
    return [
      ...cumulative,
      { metricName: `${name}_sum`, labels: { ...labels }, value: sum },
      { metricName: `${name}_count`, labels: { ...labels }, value: total },
    ]
  })
  // The registry prints the type as it is; only its declared union lacks the word.
  return { name, help, type: 'histogram', aggregator: 'sum', values } as never
}
