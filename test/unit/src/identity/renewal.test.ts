import { describe, expect, it } from 'vitest'
import { renewInTime } from '../../../../src/identity/renewal.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const hourMs = 3_600_000
const lifeMs = 100 * hourMs

function setup(renew: (attempt: number) => void = () => undefined) {
  const clock = manualClock(0)
  const log = memoryLogger()
  const stop = new AbortController()
  const renewals: number[] = []
  let notBeforeMs = 0
  const running = renewInTime(
    {
      name: 'east',
      current: () => ({ notBeforeMs, notAfterMs: notBeforeMs + lifeMs, sha256: '', subject: '' }),
      renew: async () => {
        renewals.push(clock.now() / hourMs)
        renew(renewals.length)
        notBeforeMs = clock.now()
      },
      clock,
      log,
      random: () => 0.5,
    },
    stop.signal,
  )
  return { clock, log, stop, renewals, running }
}

describe('renewal', () => {
  it('happens at two thirds of the life, again and again', async () => {
    const { clock, renewals } = setup()
    await clock.advance(66 * hourMs)
    expect(renewals).toEqual([])
    await clock.advance(70 * hourMs)
    expect(renewals.map(Math.round)).toEqual([67, 133])
  })

  it('is tried again until it succeeds, ever louder', async () => {
    const { clock, log, renewals } = setup(attempt => {
      if (attempt < 4) throw new Error('hub is away')
    })
    await clock.advance(67 * hourMs)
    expect(renewals).toHaveLength(4)
    expect(log.lines.map(line => line.level)).toEqual(['warn', 'warn', 'warn', 'info'])
  })

  it('says so when the certificate has expired', async () => {
    const { clock, log } = setup(() => {
      throw new Error('hub is away')
    })
    await clock.advance(101 * hourMs)
    expect(log.lines.at(-1)).toMatchObject({ level: 'error', fields: { name: 'east', error: 'hub is away' } })
  })

  it('ends when it is told to', async () => {
    const { clock, stop, running, renewals } = setup()
    stop.abort()
    await running
    await clock.advance(lifeMs)
    expect(renewals).toEqual([])
    expect(clock.pending).toBe(0)
  })
})
