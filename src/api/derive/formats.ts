/** The formats of OpenAPI strings and numbers that Kubernetes checks. */

const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** RFC 3339, as Go reads it: no leap second, and the day exists. */
export function isDateTime(value: string): boolean {
  const parts = value.length > 64 ? null : dateTime.exec(value)
  if (parts === null) return false
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

export function isBase64(value: string): boolean {
  return value.length % 4 === 0 && base64.test(value)
}

/** By format name; a format that is not here is not checked. */
export const stringFormats: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ['date-time', isDateTime],
  ['byte', isBase64],
])

/** The least and the greatest number of an integer format; what does not fit int64 is no integer at all. */
export const integerRanges: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['int32', [-(2 ** 31), 2 ** 31 - 1]],
])
