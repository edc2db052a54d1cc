import { describe, expect, it } from 'vitest'
import { jsonLogger, type LogLevel } from '../../../../src/telemetry/logger.ts'
import { manualClock } from '../../../support/manual-clock.ts'

function setup(level: LogLevel) {
  const lines: string[] = []
  const clock = manualClock(Date.parse('2026-01-02T03:04:05.678Z'))
  const log = jsonLogger({ level, clock, destination: { write: line => lines.push(line) } })
  return { log, lines }
}

describe('the log', () => {
  it('is one JSON object a line, by the given clock', () => {
    const { log, lines } = setup('info')
    log.child({ cluster: 'east' }).warn('watch failed', { failures: 2 })
    expect(lines).toEqual([
      '{"level":"warn","time":"2026-01-02T03:04:05.678000Z","cluster":"east","failures":2,"message":"watch failed"}\n',
    ])
  })

  it('says every key once: the innermost value counts', () => {
    const { log, lines } = setup('info')
    const dns = log.child({ cluster: 'east', zone: 'clusterset.local' })
    dns.child({ cluster: 'west', resource: 'services' }).info('listed')
    dns.info('renamed', { cluster: 'north' })
    dns.info('as before')
    expect(lines.map(line => line.replace(/^.*?Z",/, '').trim())).toEqual([
      '"cluster":"west","zone":"clusterset.local","resource":"services","message":"listed"}',
      '"cluster":"north","zone":"clusterset.local","message":"renamed"}',
      '"cluster":"east","zone":"clusterset.local","message":"as before"}',
    ])
  })

  it('leaves out what is below its level', () => {
    const { log, lines } = setup('warn')
    log.debug('a')
    log.info('b')
    log.error('c')
    expect(lines).toHaveLength(1)
  })
})
