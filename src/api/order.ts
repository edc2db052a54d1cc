/** By code units: the order of names and paths in documents. Locales have no part in it. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/** As keys `namespace/name` sort: all of `a-b` comes before `a`. */
export function byNamespace(a: string, b: string): number {
  return byText(`${a}/`, `${b}/`)
}
