import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { steadyClock, systemClock } from '../../../../src/kernel/clock.ts'

const dayMs = 86_400_000

describe('the clock of the system', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('waits longer than one timer can', () => {
    let ran = 0
    systemClock.after(60 * dayMs, () => {
      ran += 1
    })
    vi.advanceTimersByTime(60 * dayMs - 1)
    expect(ran).toBe(0)
    vi.advanceTimersByTime(1)
    expect(ran).toBe(1)
  })

  it('stops a long wait in each of its parts', () => {
    let ran = 0
    const cancels = [1, 2].map(() =>
      systemClock.after(60 * dayMs, () => {
        ran += 1
      }),
    )
    cancels[0]?.()
    vi.advanceTimersByTime(40 * dayMs)
    cancels[1]?.()
    vi.advanceTimersByTime(60 * dayMs)
    expect(ran).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('the steady clock', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('goes on when the time of day is set', () => {
    const before = steadyClock.now()
    vi.useFakeTimers({ now: 0, toFake: ['Date'] })
    expect(systemClock.now()).toBe(0)
    expect(steadyClock.now()).toBeGreaterThanOrEqual(before)
  })
})
