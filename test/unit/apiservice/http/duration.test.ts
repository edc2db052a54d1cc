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
  ['9000h', 32_400_000_000],
])('%j is %j milliseconds', (text, expected) => {
  const parsed = parseGoDuration(text)
  expect(parsed).toEqual({ ms: expect.closeTo(expected, 6) })
})

// What kube-apiserver 1.37 says of these.
it.each([
  ['abc', 'invalid duration "abc"'],
  ['', 'invalid duration ""'],
  ['-', 'invalid duration "-"'],
  ['s', 'invalid duration "s"'],
  ['.s', 'invalid duration ".s"'],
  [' 1s', 'invalid duration " 1s"'],
  ['10', 'missing unit in duration "10"'],
  ['-5', 'missing unit in duration "-5"'],
  ['1d', 'unknown unit "d" in duration "1d"'],
  ['1s 2s', 'unknown unit "s " in duration "1s 2s"'],
  ['1e3s', 'unknown unit "e" in duration "1e3s"'],
  ['1.5.5s', 'missing unit in duration "1.5.5s"'],
  ['9999999h', 'invalid duration "9999999h"'],
  [`${'1'.repeat(100)}s`, `invalid duration "${'1'.repeat(100)}s"`],
])('%j is refused: %s', (text, why) => {
  expect(parseGoDuration(text)).toEqual({ fault: `time: ${why}` })
})
