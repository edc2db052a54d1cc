import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ageChangesAt, ageText, humanDuration, timeSince } from '../../../../src/api/duration.ts'

const s = 1000
const m = 60 * s
const h = 60 * m
const d = 24 * h
const y = 365 * d

describe('humanDuration', () => {
  it.each([
    [-3 * s, '<invalid>'],
    [-1 * s, '0s'],
    [0, '0s'],
    [999, '0s'],
    [119 * s, '119s'],
    [2 * m, '2m'],
    [2 * m + 5 * s, '2m5s'],
    [9 * m + 59 * s, '9m59s'],
    [10 * m + 30 * s, '10m'],
    [179 * m, '179m'],
    [3 * h, '3h'],
    [3 * h + 7 * m, '3h7m'],
    [7 * h + 59 * m, '7h59m'],
    [8 * h + 59 * m, '8h'],
    [47 * h, '47h'],
    [2 * d, '2d'],
    [2 * d + 3 * h, '2d3h'],
    [7 * d + 23 * h, '7d23h'],
    [8 * d + 5 * h, '8d'],
    [729 * d, '729d'],
    [2 * y, '2y'],
    [2 * y + 10 * d, '2y10d'],
    [7 * y + 364 * d, '7y364d'],
    [8 * y + 100 * d, '8y'],
    [80 * y, '80y'],
  ])('shows %i ms as %s', (ms, text) => {
    expect(humanDuration(ms)).toBe(text)
  })
})

describe('ageText', () => {
  const now = Date.parse('2026-01-02T03:04:05Z')

  it('is the time since then', () => {
    expect(ageText(Date.parse('2026-01-02T03:00:00Z'), now)).toBe('4m5s')
  })

  it('says when a time cannot be read', () => {
    expect(ageText(Date.parse('yesterday'), now)).toBe('<invalid>')
  })
})

describe('ageChangesAt', () => {
  const at = Date.parse('2026-01-02T03:04:05Z')
  const ages = fc.oneof(
    ...[20 * s, 15 * m, 10 * h, 10 * d, 10 * y].map(max => fc.integer({ min: -3 * s, max })),
  )

  it('is when another text begins, no sooner than the next second', () => {
    fc.assert(
      fc.property(ages, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (age, part) => {
        const now = at + age
        const until = ageChangesAt(at, now)
        expect(until).toBeGreaterThan(now)
        expect(ageText(at, now + Math.floor((until - now) * part))).toBe(ageText(at, now))
      }),
    )
  })

  it.each([
    [30 * s, s],
    [5 * m, s],
    [20 * m, m],
    [4 * h, m],
    [30 * h, h],
    [100 * d, d],
  ])('after %i ms is %i ms later', (age, step) => {
    expect(ageChangesAt(at, at + age)).toBe(at + age + step)
  })

  it('never is of what is no time', () => {
    expect(ageChangesAt(Number.NaN, at)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('timeSince', () => {
  it('says nothing of what has not happened', () => {
    const ages = { ageOf: (time: string | undefined) => `age of ${time}` }
    expect(timeSince(undefined, ages)).toBeNull()
    expect(timeSince('2026-01-02', ages)).toBe('age of 2026-01-02')
  })
})
