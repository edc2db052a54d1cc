/** Flags of a Kubernetes program; undefined leaves one out. */
export type Flags = Readonly<Record<string, string | number | boolean | undefined>>

/** What comes later wins. */
export function toArguments(...flags: readonly Flags[]): readonly string[] {
  const merged: Flags = Object.assign({}, ...flags)
  return Object.entries(merged)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name}=${value}`)
}
