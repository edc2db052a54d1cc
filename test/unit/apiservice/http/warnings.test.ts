import { expect, it } from 'vitest'
import { warningHeaders } from '../../../../apiservice/http/warnings.ts'

it('a warning carries the code 299 and a quoted text', () => {
  expect(warningHeaders(['unknown field "spec.x"', 'a \\ b'])).toEqual([
    '299 - "unknown field \\"spec.x\\""',
    '299 - "a \\\\ b"',
  ])
})

it('a text is sent once, and not at all with a control character', () => {
  expect(warningHeaders(['same', 'same', 'two\nlines', 'tab\t', '', '\u007f'])).toEqual(['299 - "same"'])
})

it('characters outside ASCII go out as the bytes of UTF-8', () => {
  const [value = ''] = warningHeaders(['žluťoučký'])
  expect(Buffer.from(value, 'latin1').toString('utf8')).toBe('299 - "žluťoučký"')
})

it('above 4096 characters in total each text is cut to 256, and what still does not fit is left out', () => {
  const texts = Array.from({ length: 20 }, (_, i) => `${i}`.padEnd(300, 'x'))
  const values = warningHeaders(texts)
  expect(values).toHaveLength(16)
  expect(values[0]).toBe(`299 - "${'0'.padEnd(256, 'x')}"`)
})
