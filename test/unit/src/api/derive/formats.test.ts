import { describe, expect, it } from 'vitest'
import { isBase64, isDateTime } from '../../../../../src/api/derive/formats.ts'

describe('a time', () => {
  it.each([
    '2026-01-02T03:04:05Z',
    '2026-01-02T03:04:05.123456Z',
    '2026-01-02t03:04:05z',
    '2026-01-02T03:04:05+14:00',
    '2024-02-29T00:00:00Z',
    '2000-02-29T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '2026-12-31T23:59:59-05:30',
  ])('is %s', text => {
    expect(isDateTime(text)).toBe(true)
  })

  it.each([
    '',
    'yesterday',
    '2026-01-02',
    '2026-01-02 03:04:05Z',
    '2026-01-02T03:04:05',
    '2026-13-02T03:04:05Z',
    '2026-00-02T03:04:05Z',
    '2026-02-29T03:04:05Z',
    '1900-02-29T03:04:05Z',
    '2026-04-31T03:04:05Z',
    '2026-01-00T03:04:05Z',
    '2026-01-02T24:00:00Z',
    '2026-12-31T23:59:60Z',
    '2026-01-02T03:04:05+24:00',
    `2026-01-02T03:04:05.${'1'.repeat(100)}Z`,
  ])('is not %s', text => {
    expect(isDateTime(text)).toBe(false)
  })
})

describe('bytes', () => {
  it.each(['', 'aGVsbG8=', 'YQ==', 'YWJj'])('are %j', text => {
    expect(isBase64(text)).toBe(true)
  })

  it.each(['a', 'YQ', 'YQ=', 'Y Q=', 'YQ==YQ==', 'a-_b'])('are not %j', text => {
    expect(isBase64(text)).toBe(false)
  })
})
