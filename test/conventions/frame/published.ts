/** OpenAPI documents as a client reads them. */

// biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape
export type Json = any

/** Every value of a member, at any depth. */
export function valuesOf(member: string, value: Json): readonly Json[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries<Json>(value).flatMap(([name, inner]) => [
    ...(name === member ? [inner] : []),
    ...valuesOf(member, inner),
  ])
}

export function definitionsOf(document: Json): Readonly<Record<string, Json>> {
  return document.definitions ?? document.components.schemas
}

/** The last part of a reference. */
export const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

/** The names of all definitions that paths lead to; throws at one that is not there. */
export function reachedIn(document: Json): ReadonlySet<string> {
  const definitions = definitionsOf(document)
  const reached = new Set<string>()
  const follow = (value: Json): void => {
    for (const name of valuesOf('$ref', value).map(nameIn)) {
      if (reached.has(name)) continue
      if (definitions[name] === undefined) throw new Error(`${name} is referred to and not defined`)
      reached.add(name)
      follow(definitions[name])
    }
  }
  follow(document.paths)
  return reached
}

/** A schema with what it refers to put in. */
export function resolved(document: Json, schema: Json): Json {
  const ref = schema.$ref ?? schema.allOf?.[0].$ref
  return ref === undefined ? schema : resolved(document, definitionsOf(document)[nameIn(ref)])
}

/** The definition that says it is of a group, version and kind. */
export function definitionOf(document: Json, gvk: Readonly<Record<string, string>>): Json {
  const found = Object.values(definitionsOf(document)).filter((schema: Json) =>
    schema['x-kubernetes-group-version-kind']?.some(
      (one: Json) => one.group === gvk.group && one.version === gvk.version && one.kind === gvk.kind,
    ),
  )
  if (found.length !== 1) throw new Error(`${found.length} definitions are of ${JSON.stringify(gvk)}`)
  return found[0]
}
