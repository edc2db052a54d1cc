import { afterEach, describe, expect, it } from 'vitest'
import { instrumentsOf } from '../../../dns/instruments.ts'
import { WorkerPool } from '../../../dns/pool.ts'
import { type AnswerOptions, workerSettings } from '../../../dns/settings.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { memoryLogger } from '../../../src/kernel/log.ts'
import { prometheus } from '../../../src/telemetry/prometheus.ts'
import { question, shown } from '../../support/dns-message.ts'
import { exampleObjects } from '../../support/dns-objects.ts'
import { udpClient } from '../../support/dns-socket.ts'
import { compiledServices, settings } from '../../support/dns-zone.ts'
import { eventually } from '../../support/eventually.ts'

const pools: WorkerPool[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map(pool => pool.close()))
})

async function started(answers: Pick<AnswerOptions, 'queryLog'> = {}) {
  const log = memoryLogger()
  const metrics = prometheus()
  const pool = await WorkerPool.start({
    workers: 1,
    host: '127.0.0.1',
    port: 0,
    settings: workerSettings({ host: '127.0.0.1', ...answers }, settings),
    clock: systemClock,
    log,
    instruments: instrumentsOf(metrics),
  })
  pools.push(pool)
  return { pool, log, metrics }
}

const put = compiledServices(exampleObjects()).map(compiled => compiled.service)

async function status(port: number): Promise<string> {
  const client = await udpClient(port)
  try {
    return shown(await client.ask(question('web.prod.svc.clusterset.local', 'A'))).status
  } finally {
    await client.close()
  }
}

describe('the workers', () => {
  it('take in a change before it is said to be in', async () => {
    const { pool } = await started()
    expect(await status(pool.port)).toBe('SERVFAIL')
    await pool.apply({ serial: 1, put, removed: [] })
    pool.tell({ kind: 'loaded' })
    expect(await status(pool.port)).toBe('NOERROR')
    await pool.apply({ serial: 2, put: [], removed: ['prod/web'] })
    expect(await status(pool.port)).toBe('NXDOMAIN')
  })

  it('are started again on the same port when they die, and told everything', async () => {
    const { pool, log, metrics } = await started()
    const restarted = new Promise<void>(resolve => {
      pool.onRestart = resolve
    })
    // No change has this form: it is thrown on, as a bug would be.
    const dying = pool.apply({ serial: 1, put: [{ zone: 0, key: 'prod/web' }], removed: [] } as never)
    await dying
    await restarted
    expect(await status(pool.port)).toBe('SERVFAIL')
    await pool.apply({ serial: 3, put, removed: [] })
    pool.tell({ kind: 'loaded' })
    expect(await status(pool.port)).toBe('NOERROR')
    expect(await metrics.text()).toContain('isthmus_dns_worker_restarts_total 1')
    expect(log.lines.map(line => `${line.level} ${line.message}`)).toEqual([
      'error answering thread failed',
      'warn answering thread ended, starting it again',
    ])
  })

  it('report what they counted when they close', async () => {
    const { pool, metrics } = await started()
    await status(pool.port)
    await pool.close()
    await eventually(async () =>
      expect(await metrics.text()).toContain(
        'isthmus_dns_responses_total{proto="udp",type="A",rcode="SERVFAIL"} 1',
      ),
    )
  })

  it('log what they answered last before they close', async () => {
    const { pool, log } = await started({ queryLog: 'all' })
    await status(pool.port)
    await pool.close()
    expect(log.lines).toMatchObject([{ message: 'answered', fields: { rcode: 'SERVFAIL' } }])
  })

  it('are not started again once they are closed', async () => {
    const { pool, log } = await started()
    await pool.close()
    await pool.apply({ serial: 1, put, removed: [] })
    expect(log.lines).toEqual([])
  })
})
