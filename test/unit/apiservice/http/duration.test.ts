import { expect, it } from 'vitest'
import { parseGoDuration } from '../../../../apiservice/http/duration.ts'

it.each([
  ['34s', 34_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['500ms', 500],
  ['.5s', 500],
  ['1.s', 1000],
  ['250us', 0.25],
  ['1µs', 0.001],
  ['0', 0],
  ['+2s', 2000],
  ['-2s', -2000],
  ['10', undefined],
  ['s', undefined],
  ['', undefined],
  ['-', undefined],
  ['1d', undefined],
  ['1s 2s', undefined],
  ['1e3s', undefined],
  ['NaNs', undefined],
  [`${'1'.repeat(100)}s`, undefined],
])('%j is %j milliseconds', (text, expected) => {
  const parsed = parseGoDuration(text)
  if (expected === undefined) expect(parsed).toBeUndefined()
  else expect(parsed).toBeCloseTo(expected, 6)
})
