/** What the responder counts, named after the metrics of CoreDNS. */
import { readFileSync } from 'node:fs'
import type { HistogramReading, Metrics } from '../src/kernel/metrics.ts'
import { durationBuckets, type ProblemReason, type Report, type Transport } from './contract.ts'

export type Instruments = {
  report(report: Report): void
  readonly restarts: { add(): void }
  services(count: number): void
  names(count: number): void
  serial(serial: number): void
  skipped(reason: ProblemReason, count: number): void
  buildSeconds(seconds: number): void
}

export function instrumentsOf(metrics: Metrics): Instruments {
  const gauge = (name: string, help: string, labels: readonly string[] = []) =>
    metrics.gauge({ name, help, labels })
  metrics.gaugeFrom(
    {
      name: 'isthmus_dns_udp_receive_buffer_errors',
      help: 'Datagrams that the kernel dropped for want of room, of all sockets in this network namespace.',
    },
    receiveBufferErrors,
  )
  const services = gauge('isthmus_dns_services', 'ServiceImports that the zone is made of.')
  const names = gauge('isthmus_dns_names', 'Names that own records.')
  const serial = gauge('isthmus_dns_zone_serial', 'Serial of the zone: the time of its last change.')
  const skipped = gauge('isthmus_dns_skipped_records', 'Parts of services that cannot become records.', [
    'reason',
  ])
  const build = metrics.histogram({
    name: 'isthmus_dns_build_duration_seconds',
    help: 'Time to make the records of one service.',
    buckets: [0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1],
  })
  return {
    report: queryInstruments(metrics),
    restarts: metrics.counter({
      name: 'isthmus_dns_worker_restarts_total',
      help: 'Answering threads that ended unexpectedly and were started again.',
    }),
    services: count => services.set(count),
    names: count => names.set(count),
    serial: value => serial.set(value),
    skipped: (reason, count) => skipped.set(count, { reason }),
    buildSeconds: seconds => build.observe(seconds),
  }
}

/** Where the services come from. */
export function observeSource(
  metrics: Metrics,
  source: { snapshotAgeSeconds(): number; isLive(): boolean },
): void {
  const name = 'isthmus_dns_snapshot_age_seconds'
  const help = 'Age of the services served from disk while the API server is away; 0 when they are current.'
  metrics.gaugeFrom({ name, help }, () => source.snapshotAgeSeconds())
  metrics.gaugeFrom(
    { name: 'isthmus_dns_synced', help: '1 when the services come from the API server.' },
    () => (source.isLive() ? 1 : 0),
  )
}

/** RcvbufErrors of UDP; NaN where the kernel does not say. */
function receiveBufferErrors(): number {
  try {
    const lines = readFileSync('/proc/net/snmp', 'utf8').split('\n')
    const [names = [], values = []] = lines
      .filter(line => line.startsWith('Udp:'))
      .map(line => line.split(' '))
    return Number(values[names.indexOf('RcvbufErrors')])
  } catch {
    // Not Linux, or /proc is hidden.
    return Number.NaN
  }
}

/** Adds up what the workers report. */
function queryInstruments(metrics: Metrics): (report: Report) => void {
  const counter = (name: string, help: string, labels: readonly string[] = []) =>
    metrics.counter({ name, help, labels })
  const requests = counter('isthmus_dns_requests_total', 'Queries answered.', ['proto', 'type'])
  const responses = counter('isthmus_dns_responses_total', 'Answers by response code.', [
    'proto',
    'type',
    'rcode',
  ])
  const dropped = counter('isthmus_dns_dropped_total', 'Messages and connections without an answer.', [
    'proto',
  ])
  const truncated = counter('isthmus_dns_truncated_total', 'Answers that not all records fitted into.', [
    'proto',
  ])
  const faults = counter('isthmus_dns_faults_total', 'Errors inside of the responder.')
  const durations = durationsOf(metrics)
  return report => {
    for (const { transport: proto, type, rcode, count } of report.requests) {
      requests.add({ proto, type }, count)
      responses.add({ proto, type, rcode }, count)
    }
    for (const proto of ['udp', 'tcp'] as const) {
      if (report.dropped[proto] > 0) dropped.add({ proto }, report.dropped[proto])
      if (report.truncated[proto] > 0) truncated.add({ proto }, report.truncated[proto])
    }
    if (report.faults > 0) faults.add({}, report.faults)
    durations(report)
  }
}

function durationsOf(metrics: Metrics): (report: Report) => void {
  const readings = new Map<Transport, { counts: number[]; sum: number }>()
  metrics.histogramFrom(
    {
      name: 'isthmus_dns_request_duration_seconds',
      help: 'Time from reading a query to handing over its answer.',
      labels: ['proto'],
      buckets: durationBuckets,
    },
    () =>
      [...readings].map(([proto, { counts, sum }]): HistogramReading => ({ labels: { proto }, counts, sum })),
  )
  return report => {
    for (const { transport, counts, sumSeconds } of report.durations) {
      const old = readings.get(transport)
      readings.set(transport, {
        counts: counts.map((count, index) => count + (old?.counts[index] ?? 0)),
        sum: sumSeconds + (old?.sum ?? 0),
      })
    }
  }
}
