import type { MetricOptions, Metrics } from '../../src/kernel/metrics.ts'
import { prometheus } from '../../src/telemetry/prometheus.ts'

export type RecordedMetric = {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
}

/** Real metrics of a process that remember how each instrument was made. */
export function recordedMetrics(): Metrics & { readonly made: readonly RecordedMetric[] } {
  const metrics = prometheus({ processMetrics: true })
  const made = new Map<string, RecordedMetric>()
  const note = (type: RecordedMetric['type'], { name, labels = [] }: MetricOptions): void => {
    made.set(name, { name, type, labels })
  }
  return {
    get made() {
      return [...made.values()]
    },
    counter(options) {
      note('counter', options)
      return metrics.counter(options)
    },
    counterFrom(options, read) {
      note('counter', options)
      metrics.counterFrom(options, read)
    },
    gauge(options) {
      note('gauge', options)
      return metrics.gauge(options)
    },
    gaugeFrom(options, read) {
      note('gauge', options)
      metrics.gaugeFrom(options, read)
    },
    histogram(options) {
      note('histogram', options)
      return metrics.histogram(options)
    },
    histogramFrom(options, read) {
      note('histogram', options)
      metrics.histogramFrom(options, read)
    },
    text: () => metrics.text(),
  }
}
