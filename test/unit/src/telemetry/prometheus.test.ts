import { describe, expect, it } from 'vitest'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'

describe('metrics', () => {
  it('are written in the text format', async () => {
    const metrics = prometheus()
    const counter = metrics.counter({ name: 'isthmus_a_total', help: 'A.', labels: ['code'] })
    counter.add({ code: '200' })
    counter.add({ code: '200' }, 2)
    metrics.gauge({ name: 'isthmus_b', help: 'B.' }).set(7)
    metrics.gaugeFrom({ name: 'isthmus_c', help: 'C.' }, () => 8)
    metrics.histogram({ name: 'isthmus_d_seconds', help: 'D.', buckets: [1, 2] }).observe(1.5)
    expect(await metrics.text()).toBe(
      [
        '# HELP isthmus_a_total A.',
        '# TYPE isthmus_a_total counter',
        'isthmus_a_total{code="200"} 3',
        '',
        '# HELP isthmus_b B.',
        '# TYPE isthmus_b gauge',
        'isthmus_b 7',
        '',
        '# HELP isthmus_c C.',
        '# TYPE isthmus_c gauge',
        'isthmus_c 8',
        '',
        '# HELP isthmus_d_seconds D.',
        '# TYPE isthmus_d_seconds histogram',
        'isthmus_d_seconds_bucket{le="1"} 0',
        'isthmus_d_seconds_bucket{le="2"} 1',
        'isthmus_d_seconds_bucket{le="+Inf"} 1',
        'isthmus_d_seconds_sum 1.5',
        'isthmus_d_seconds_count 1',
        '',
      ].join('\n'),
    )
  })

  it('show a gauge that is read for each set of labels', async () => {
    const metrics = prometheus()
    metrics.gaugeFrom({ name: 'isthmus_f', help: 'F.', labels: ['family'] }, () => [
      { labels: { family: 'IPv4' }, value: 1 },
      { labels: { family: 'IPv6' }, value: 2 },
    ])
    expect(await metrics.text()).toContain('isthmus_f{family="IPv4"} 1\nisthmus_f{family="IPv6"} 2\n')
  })

  it('show a counter that is counted elsewhere, as it stands', async () => {
    const metrics = prometheus()
    let value = 1
    metrics.counterFrom({ name: 'isthmus_g_total', help: 'G.', labels: ['code'] }, () => [
      { labels: { code: '200' }, value },
    ])
    expect(await metrics.text()).toContain('# TYPE isthmus_g_total counter\nisthmus_g_total{code="200"} 1\n')
    value = 5
    expect(await metrics.text()).toContain('isthmus_g_total{code="200"} 5\n')
  })

  it('show a histogram that is counted elsewhere', async () => {
    const metrics = prometheus()
    const options = { name: 'isthmus_e_seconds', help: 'E.', labels: ['type'], buckets: [1, 2] }
    metrics.histogramFrom(options, () => [{ labels: { type: 'A' }, counts: [1, 2, 3], sum: 20 }])
    expect(await metrics.text()).toBe(
      [
        '# HELP isthmus_e_seconds E.',
        '# TYPE isthmus_e_seconds histogram',
        'isthmus_e_seconds_bucket{type="A",le="1"} 1',
        'isthmus_e_seconds_bucket{type="A",le="2"} 3',
        'isthmus_e_seconds_bucket{type="A",le="+Inf"} 6',
        'isthmus_e_seconds_sum{type="A"} 20',
        'isthmus_e_seconds_count{type="A"} 6',
        '',
      ].join('\n'),
    )
  })

  it('are the same instrument when asked for twice, and never another type', async () => {
    const metrics = prometheus()
    const options = { name: 'isthmus_a_total', help: 'A.' }
    metrics.counter(options).add()
    metrics.counter(options).add()
    expect(await metrics.text()).toContain('isthmus_a_total 2')
    expect(() => metrics.gauge(options)).toThrow('metric isthmus_a_total exists with another type')
  })

  it('tell of the process when asked to', async () => {
    expect(await prometheus({ processMetrics: true }).text()).toContain('process_resident_memory_bytes')
    expect(await prometheus().text()).toBe('\n')
  })
})
