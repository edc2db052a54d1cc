import { expect, it } from 'vitest'
import { RequestMetrics } from '../../../../apiservice/http/request-metrics.ts'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'
import { aResourceInfo } from '../../../support/api-request.ts'

const served = new Set(['g/v1/foos'])
const foos = (verb: 'get' | 'list' | 'watch' | 'create', subresource = '') =>
  aResourceInfo({ verb, group: 'g', version: 'v1', resource: 'foos', subresource })

async function linesOf(metrics: { text(): Promise<string> }, name: string): Promise<readonly string[]> {
  return (await metrics.text())
    .split('\n')
    .filter(line => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
}

it('requests are counted by verb, resource and code', async () => {
  const metrics = prometheus()
  const requests = new RequestMetrics(metrics, served)
  requests.finished(foos('create'), 201, { seconds: 0.01, bytes: 100 })
  requests.finished(foos('create'), 201, { seconds: 0.01, bytes: 100 })
  requests.finished(foos('get', 'status'), 404, { seconds: 0.01, bytes: 100 })
  requests.finished({ isResource: false, verb: 'get', path: '/version' }, 200, { seconds: 0, bytes: 10 })
  expect(await linesOf(metrics, 'apiserver_request_total')).toEqual([
    'apiserver_request_total{verb="POST",group="g",version="v1",resource="foos",subresource="",code="201"} 2',
    'apiserver_request_total{verb="GET",group="g",version="v1",resource="foos",subresource="status",code="404"} 1',
    'apiserver_request_total{verb="GET",group="",version="",resource="",subresource="",code="200"} 1',
  ])
  expect(await linesOf(metrics, 'apiserver_request_duration_seconds_count')).toHaveLength(3)
})

it('strangers cannot make label values: neither by resource, nor by subresource, nor by method', async () => {
  const metrics = prometheus()
  const requests = new RequestMetrics(metrics, served)
  for (let i = 0; i < 50; i++) {
    const info = aResourceInfo({ verb: 'get', group: `g${i}`, version: 'v1', resource: `r${i}` })
    requests.finished(info, 404, { seconds: 0, bytes: 0 })
    requests.finished(foos('get', `sub${i}`), 404, { seconds: 0, bytes: 0 })
    requests.finished({ isResource: false, verb: `m${i}`, path: '/' }, 405, { seconds: 0, bytes: 0 })
  }
  expect(await linesOf(metrics, 'apiserver_request_total')).toHaveLength(3)
})

it('open watches are counted while they are open', async () => {
  const metrics = prometheus()
  const requests = new RequestMetrics(metrics, served)
  const first = requests.watchStarted(foos('watch'))
  requests.watchStarted(foos('watch'))
  first()
  expect(await linesOf(metrics, 'apiserver_longrunning_requests')).toEqual([
    'apiserver_longrunning_requests{verb="WATCH",group="g",version="v1",resource="foos",subresource=""} 1',
  ])
  requests.slowWatcher(foos('watch'))
  expect(await linesOf(metrics, 'apiserver_terminated_watchers_total')).toEqual([
    'apiserver_terminated_watchers_total{resource="foos"} 1',
  ])
})
