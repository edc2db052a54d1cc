import { describe, expect, it } from 'vitest'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { type Opened, opening } from '../../../../src/roles/opening.ts'
import { manualClock } from '../../../support/manual-clock.ts'

function context() {
  const stop = new AbortController()
  return { clock: manualClock(), log: memoryLogger(), stop, signal: stop.signal }
}

const hangs = (): Promise<never> => Promise.withResolvers<never>().promise

describe('a start', () => {
  it('that fails closes what it opened, the last first, and says why it failed', async () => {
    const closed: string[] = []
    const start = opening(context(), async opened => {
      opened.add(() => void closed.push('store'))
      opened.add(async () => void closed.push('server'))
      throw new Error('no more')
    })
    await expect(start).rejects.toThrow('no more')
    expect(closed).toEqual(['server', 'store'])
  })

  it('closes the rest when one thing cannot be closed', async () => {
    const { log, ...rest } = context()
    const closed: string[] = []
    const start = opening({ ...rest, log }, async opened => {
      opened.add(() => void closed.push('store'))
      opened.add(() => Promise.reject(new Error('stuck')))
      throw new Error('no more')
    })
    await expect(start).rejects.toThrow('no more')
    expect(closed).toEqual(['store'])
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { error: 'stuck' } }])
  })

  it('that fails does not wait longer than five seconds for what does not close', async () => {
    const { clock, ...rest } = context()
    const closing = Promise.withResolvers<void>()
    const start = opening({ ...rest, clock }, async opened => {
      opened.add(() => {
        closing.resolve()
        return hangs()
      })
      throw new Error('no more')
    })
    const outcome = expect(start).rejects.toThrow('no more')
    await closing.promise
    await clock.advance(5_000)
    await outcome
    expect(rest.log.lines).toMatchObject([{ level: 'warn', fields: { error: 'not done within 5 s' } }])
  })

  it('that hangs ends at the signal, and what it opens afterwards is closed', async () => {
    const { clock, stop, ...rest } = context()
    const closed = Promise.withResolvers<void>()
    const seen = Promise.withResolvers<Opened>()
    const early: string[] = []
    const start = opening({ ...rest, clock }, opened => {
      opened.add(() => {
        early.push('store')
      })
      seen.resolve(opened)
      return hangs()
    })
    const outcome = expect(start).rejects.toThrow('stopped')
    const opened = await seen.promise
    stop.abort(new Error('stopped'))
    await clock.advance(1_000)
    await outcome
    expect(early).toEqual(['store'])
    opened.add(() => closed.resolve())
    await closed.promise
  })

  it('does not begin after the signal', async () => {
    const { stop, ...rest } = context()
    stop.abort(new Error('stopped'))
    await expect(opening(rest, hangs)).rejects.toThrow('stopped')
  })

  it('that is done is closed once, for all who ask', async () => {
    let count = 0
    const opened = await opening(context(), async made => {
      made.add(() => {
        count += 1
      })
      return made
    })
    await Promise.all([opened.close(), opened.close()])
    expect(count).toBe(1)
  })
})
