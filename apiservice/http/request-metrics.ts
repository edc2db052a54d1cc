import type { Labels, Metrics } from '../../src/kernel/metrics.ts'
import type { RequestInfo } from '../contract.ts'

/** The names and buckets are kube-apiserver's, so that dashboards made for it work. */
const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
const sizeBuckets = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

const requestLabels = ['verb', 'group', 'version', 'resource', 'subresource']

const shownVerbs: ReadonlyMap<string, string> = new Map([
  ['create', 'POST'],
  ['update', 'PUT'],
])
const plainMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

/** What operators are told about requests. `served` bounds the label values: `group/version/resource`. */
export class RequestMetrics {
  readonly #served: ReadonlySet<string>
  readonly #total
  readonly #duration
  readonly #size
  readonly #longRunning
  readonly #slow
  readonly #labels = new Map<string, Labels>()
  readonly #watches = new Map<Labels, number>()

  constructor(metrics: Metrics, served: ReadonlySet<string>) {
    this.#served = served
    this.#total = metrics.counter({
      name: 'apiserver_request_total',
      help: 'Requests answered.',
      labels: [...requestLabels, 'code'],
    })
    this.#duration = metrics.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time to the end of the response, watches excepted.',
      labels: requestLabels,
      buckets: durationBuckets,
    })
    this.#size = metrics.histogram({
      name: 'apiserver_response_sizes',
      help: 'Response bodies in bytes, before compression.',
      labels: requestLabels,
      buckets: sizeBuckets,
    })
    this.#longRunning = metrics.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Open watches.',
      labels: requestLabels,
    })
    this.#slow = metrics.counter({
      name: 'apiserver_terminated_watchers_total',
      help: 'Watchers that were cut off because they read too slowly.',
      labels: ['resource'],
    })
  }

  finished(info: RequestInfo, code: number, measured: { seconds: number; bytes: number }): void {
    const labels = this.#labelsOf(info)
    this.#total.add({ ...labels, code: String(code) })
    this.#duration.observe(measured.seconds, labels)
    this.#size.observe(measured.bytes, labels)
  }

  /** Counts an open watch until the result is called. */
  watchStarted(info: RequestInfo): () => void {
    const labels = this.#labelsOf(info)
    this.#total.add({ ...labels, code: '200' })
    this.#count(labels, 1)
    return () => this.#count(labels, -1)
  }

  slowWatcher(info: RequestInfo): void {
    this.#slow.add({ resource: this.#targetOf(info).resource })
  }

  #count(labels: Labels, by: number): void {
    const count = (this.#watches.get(labels) ?? 0) + by
    this.#watches.set(labels, count)
    this.#longRunning.set(count, labels)
  }

  /** One object for each combination: they are bounded, and the hot path makes none. */
  #labelsOf(info: RequestInfo): Labels {
    const target = this.#targetOf(info)
    const verb = verbOf(info)
    const key = `${verb} ${target.key} ${target.subresource}`
    const known = this.#labels.get(key)
    if (known !== undefined) return known
    const { group, version, resource, subresource } = target
    const labels = { verb, group, version, resource, subresource }
    this.#labels.set(key, labels)
    return labels
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

export function servedKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`
}

type Target = { key: string; group: string; version: string; resource: string; subresource: string }

const nowhere: Target = { key: '', group: '', version: '', resource: '', subresource: '' }
const subresources: ReadonlySet<string> = new Set(['status', 'scale', 'finalize'])

function verbOf(info: RequestInfo): string {
  const upper = shownVerbs.get(info.verb) ?? info.verb.toUpperCase()
  return info.isResource || plainMethods.has(upper) ? upper : 'OTHER'
}
