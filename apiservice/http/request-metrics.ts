import { Counts } from '../../src/kernel/counts.ts'
import type { Labels, MetricOptions, Metrics, Reading } from '../../src/kernel/metrics.ts'
import type { RequestInfo, ResourceVerb } from '../contract.ts'

/** The names and buckets are kube-apiserver's, so that dashboards made for it work. */
const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
const sizeBuckets = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

const labels = ['verb', 'group', 'version', 'resource', 'subresource']

const totalOptions: MetricOptions = {
  name: 'apiserver_request_total',
  help: 'Requests answered.',
  labels: [...labels, 'code'],
}
const durationOptions: MetricOptions = {
  name: 'apiserver_request_duration_seconds',
  help: 'Time to the end of the response, watches excepted.',
  labels,
  buckets: durationBuckets,
}
const sizeOptions: MetricOptions = {
  name: 'apiserver_response_sizes',
  help: 'Response bodies in bytes, before compression.',
  labels,
  buckets: sizeBuckets,
}
const watchOptions: MetricOptions = { name: 'apiserver_longrunning_requests', help: 'Open watches.', labels }

const shownVerbs: Readonly<Record<ResourceVerb | '', string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
  '': '',
}
const plainMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

/**
 * What operators are told about requests. Counted in plain numbers, since it is done for every one, and put into
 * readings when somebody asks. `served` bounds the label values: `group/version/resource`.
 */
export class RequestMetrics {
  readonly #served: ReadonlySet<string>
  readonly #series = new Map<string, Series>()
  /** The same by resource, so that mostly no key has to be made: as few as there are verbs, versions and subresources. */
  readonly #ofResource = new Map<string, Series[]>()
  readonly #slow

  constructor(metrics: Metrics, served: ReadonlySet<string>) {
    this.#served = served
    metrics.counterFrom(totalOptions, () => this.#read(series => series.totals()))
    metrics.histogramFrom(durationOptions, () =>
      this.#read(series => series.duration.readings(series.labels)),
    )
    metrics.histogramFrom(sizeOptions, () => this.#read(series => series.size.readings(series.labels)))
    metrics.gaugeFrom(watchOptions, () => this.#read(series => series.openWatches()))
    this.#slow = metrics.counter({
      name: 'apiserver_terminated_watchers_total',
      help: 'Watchers that were cut off because they read too slowly.',
      labels: ['resource'],
    })
  }

  finished(info: RequestInfo, code: number, measured: { seconds: number; bytes: number }): void {
    const series = this.#seriesOf(info)
    series.count(code)
    series.duration.add(measured.seconds)
    series.size.add(measured.bytes)
  }

  /** Counts an open watch until the result is called. */
  watchStarted(info: RequestInfo): () => void {
    const series = this.#seriesOf(info)
    series.count(200)
    series.watches++
    series.hasWatched = true
    return () => {
      series.watches--
    }
  }

  slowWatcher(info: RequestInfo): void {
    this.#slow.add({ resource: this.#targetOf(info).resource })
  }

  #read<T>(readings: (series: Series) => readonly T[]): readonly T[] {
    return [...this.#series.values()].flatMap(readings)
  }

  #seriesOf(info: RequestInfo): Series {
    const verb = verbOf(info)
    if (!info.isResource) return this.#keyed(info, verb)
    for (const series of this.#ofResource.get(info.resource) ?? none) {
      if (series.isOf(info, verb)) return series
    }
    return this.#keyed(info, verb)
  }

  #keyed(info: RequestInfo, verb: string): Series {
    const target = this.#targetOf(info)
    const key = `${verb} ${target.key} ${target.subresource}`
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const { group, version, resource, subresource } = target
    const made = new Series({ verb, group, version, resource, subresource })
    this.#series.set(key, made)
    if (target !== nowhere)
      this.#ofResource.set(resource, [...(this.#ofResource.get(resource) ?? none), made])
    return made
  }

  /** What is not served has no labels of its own: strangers could invent any number. */
  #targetOf(info: RequestInfo): Target {
    if (!info.isResource) return nowhere
    const { group, version, resource, subresource } = info
    const key = servedKey(group, version, resource)
    if (!this.#served.has(key)) return nowhere
    return { key, group, version, resource, subresource: subresources.has(subresource) ? subresource : '' }
  }
}

type SeriesLabels = Labels & Omit<Target, 'key'> & { readonly verb: string }

/** Everything that is counted for one set of labels. */
class Series {
  readonly labels: SeriesLabels
  readonly duration = new Counts(durationBuckets)
  readonly size = new Counts(sizeBuckets)
  readonly #codes = new Map<number, number>()
  watches = 0
  hasWatched: boolean = false

  constructor(labels: SeriesLabels) {
    this.labels = labels
  }

  isOf(info: Extract<RequestInfo, { isResource: true }>, verb: string): boolean {
    const { labels } = this
    return (
      verb === labels.verb &&
      info.resource === labels.resource &&
      info.subresource === labels.subresource &&
      info.version === labels.version &&
      info.group === labels.group
    )
  }

  count(code: number): void {
    this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1)
  }

  totals(): readonly Reading[] {
    return [...this.#codes].map(([code, value]) => ({
      labels: { ...this.labels, code: String(code) },
      value,
    }))
  }

  openWatches(): readonly Reading[] {
    return this.hasWatched ? [{ labels: this.labels, value: this.watches }] : []
  }
}

export function servedKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`
}

type Target = { key: string; group: string; version: string; resource: string; subresource: string }

const none: readonly Series[] = []
const nowhere: Target = { key: '', group: '', version: '', resource: '', subresource: '' }
const subresources: ReadonlySet<string> = new Set(['status', 'scale', 'finalize'])

function verbOf(info: RequestInfo): string {
  if (info.isResource) return shownVerbs[info.verb]
  const upper = info.verb.toUpperCase()
  return plainMethods.has(upper) ? upper : 'OTHER'
}
