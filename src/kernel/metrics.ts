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

/** The value of a gauge or a counter for one set of labels. */
export type Reading = { readonly labels: Labels; readonly value: number }

/** What a histogram that is kept elsewhere holds for one set of labels. */
export type HistogramReading = {
  readonly labels: Labels
  /** How many values lie in each bucket and in no smaller one; last, how many lie above all bounds. */
  readonly counts: readonly number[]
  readonly sum: number
}

/** Makes instruments. Asking twice for one name answers the same instrument; of what is read when somebody asks, the last reader counts. */
export interface Metrics {
  counter(options: MetricOptions): Counter
  /** A counter that is counted elsewhere, where it happens often, and read when somebody asks. */
  counterFrom(options: MetricOptions, read: () => readonly Reading[]): void
  gauge(options: MetricOptions): Gauge
  /** A gauge that is read when somebody asks. */
  gaugeFrom(options: MetricOptions, read: () => number | readonly Reading[]): void
  histogram(options: MetricOptions): Histogram
  /** A histogram that is counted elsewhere, such as in a worker thread or where it happens often, and read when somebody asks. */
  histogramFrom(options: MetricOptions, read: () => readonly HistogramReading[]): void
  /** The Prometheus text format, version 0.0.4. */
  text(): Promise<string>
}

/** Counts nothing. */
export const noMetrics: Metrics = {
  counter: () => ({ add: () => undefined }),
  counterFrom: () => undefined,
  gauge: () => ({ set: () => undefined }),
  gaugeFrom: () => undefined,
  histogram: () => ({ observe: () => undefined }),
  histogramFrom: () => undefined,
  text: () => Promise.resolve(''),
}
