export type Labels = Readonly<Record<string, string>>

export interface Counter {
  add(labels?: Labels, by?: number): void
}

export interface Gauge {
  set(value: number, labels?: Labels): void
}

export interface Histogram {
  observe(value: number, labels?: Labels): void
}

export type MetricOptions = {
  /** `isthmus_<area>_<thing>_<unit>`, or the name that the field knows. */
  readonly name: string
  readonly help: string
  /** Label names. Their values must come from a bounded set. */
  readonly labels?: readonly string[]
  /** Upper bounds of a histogram's buckets, in the unit of its name. */
  readonly buckets?: readonly number[]
}

/** Makes instruments. Asking twice for one name answers the same instrument. */
export interface Metrics {
  counter(options: MetricOptions): Counter
  gauge(options: MetricOptions): Gauge
  /** A gauge that is read when somebody asks. */
  gaugeFrom(options: MetricOptions, read: () => number): void
  histogram(options: MetricOptions): Histogram
  /** The Prometheus text format, version 0.0.4. */
  text(): Promise<string>
}

/** Counts nothing. */
export const noMetrics: Metrics = {
  counter: () => ({ add: () => undefined }),
  gauge: () => ({ set: () => undefined }),
  gaugeFrom: () => undefined,
  histogram: () => ({ observe: () => undefined }),
  text: () => Promise.resolve(''),
}
