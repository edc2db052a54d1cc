import { afterEach, describe, expect, it } from 'vitest'
import { never } from '../../../../src/kernel/abort.ts'
import { systemClock } from '../../../../src/kernel/clock.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import type { Running } from '../../../../src/roles/context.ts'
import { type ProbeOptions, startProbe } from '../../../../src/roles/probe.ts'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'
import { freePorts } from '../../../support/fleet.ts'

describe('probes', () => {
  let running: Running | undefined
  afterEach(() => running?.close())

  async function start(options: Partial<ProbeOptions> = {}) {
    const port = await freePorts()
    const metrics = prometheus()
    metrics.counter({ name: 'isthmus_a_total', help: 'A.' }).add()
    const context = { clock: systemClock, log: silentLogger, metrics, signal: never }
    const good = { host: '127.0.0.1', port, alive: async () => undefined, ready: () => true }
    running = await startProbe({ ...good, ...options }, context)
    return async (path: string, init?: RequestInit) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, init)
      return [answer.status, await answer.text()]
    }
  }

  it('say that all is well', async () => {
    const get = await start()
    expect(await get('/livez')).toEqual([200, 'ok\n'])
    expect(await get('/healthz?verbose')).toEqual([200, 'ok\n'])
    expect(await get('/readyz')).toEqual([200, 'ok\n'])
    expect(await get('/metrics')).toEqual([200, expect.stringContaining('isthmus_a_total 1')])
  })

  it('say what is not', async () => {
    const get = await start({
      alive: () => Promise.reject(new Error('no answer on UDP port 53')),
      ready: () => false,
    })
    expect(await get('/livez')).toEqual([500, 'no answer on UDP port 53\n'])
    expect(await get('/readyz')).toEqual([503, 'not ready\n'])
  })

  it('answer nothing else', async () => {
    const get = await start()
    expect(await get('/')).toEqual([404, 'not found\n'])
    expect(await get('/livez', { method: 'POST' })).toEqual([404, 'not found\n'])
  })
})
