import type { Clock } from '../../../src/kernel/clock.ts'
import type { Counter, Histogram, Metrics } from '../../../src/kernel/metrics.ts'
import type { GrpcError } from './grpc.ts'

/** What the requests to etcd tell about themselves. */
export class EtcdInstruments {
  readonly #clock: Clock
  readonly #requests: Counter
  readonly #seconds: Histogram
  #bytes = 0

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock
    this.#requests = metrics.counter({
      name: 'isthmus_store_etcd_requests_total',
      help: 'Requests to etcd that have ended, by the code of gRPC.',
      labels: ['method', 'code'],
    })
    this.#seconds = metrics.histogram({
      name: 'isthmus_store_etcd_request_duration_seconds',
      help: 'How long etcd took to answer; watches are not among them.',
      labels: ['method'],
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
    })
    metrics.gaugeFrom(
      {
        name: 'isthmus_store_etcd_bytes',
        help: 'Size of the database of the etcd member that was asked last.',
      },
      () => this.#bytes,
    )
  }

  /** The result is called at the end. */
  began(method: string): (error: GrpcError | undefined) => void {
    const from = this.#clock.now()
    return error => {
      this.#requests.add({ method, code: String(error?.code ?? 0) })
      if (method !== 'Watch') this.#seconds.observe((this.#clock.now() - from) / 1000, { method })
    }
  }

  size(bytes: number): void {
    this.#bytes = bytes
  }
}
