import { describe, expect, it } from 'vitest'
import { nextSerial } from '../../../../dns/zone/serial.ts'

describe('the serial', () => {
  it.each([
    ['is the time', 0, 1_795_959_677_999, 1_795_959_677],
    ['is the time after 2038 too', 0, 2_500_000_000_000, 2_500_000_000],
    ['stays within a second', 1_795_959_677, 1_795_959_677_999, 1_795_959_677],
    ['stays when the clock is set back', 1_795_959_677, 1_600_000_000_000, 1_795_959_677],
    ['goes on over the end of 32 bits', 0xffff_fff0, (2 ** 32 + 5) * 1000, 5],
  ])('%s', (_, before, nowMs, serial) => {
    expect(nextSerial(before, nowMs)).toBe(serial)
  })
})
