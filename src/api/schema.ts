/**
 * The schema of a kind, written once: `s.object({...})` is both a structural OpenAPI v3 schema with the Kubernetes
 * extensions and a TypeScript type (`Infer`). Everything that reads a schema reads `.json`.
 */

/** The subset of OpenAPI v3 schema objects that structural schemas use, with the extensions clients know. */
export type JsonSchema = {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly additionalProperties?: JsonSchema
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
  readonly default?: unknown
  readonly nullable?: boolean
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular'
  readonly 'x-kubernetes-preserve-unknown-fields'?: true
  readonly 'x-kubernetes-int-or-string'?: true
  /** Strategic merge patch: `merge`, `retainKeys`, or both joined by a comma. */
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
}

declare const typed: unique symbol
declare const optionality: unique symbol

export type Schema<T> = { readonly json: JsonSchema; readonly [typed]?: T }
export type OptionalSchema<T> = Schema<T> & { readonly [optionality]: true; readonly optional: true }

export type Properties = Readonly<Record<string, Schema<unknown>>>

type OptionalKeys<P extends Properties> = {
  [K in keyof P]: P[K] extends OptionalSchema<unknown> ? K : never
}[keyof P]

export type Infer<S> = S extends Schema<infer T> ? T : never

/** The object type of a set of properties. */
export type InferProperties<P extends Properties> = {
  readonly [K in Exclude<keyof P, OptionalKeys<P>>]: Infer<P[K]>
} & { readonly [K in OptionalKeys<P>]?: Infer<P[K]> }

type Common = { readonly description?: string; readonly nullable?: boolean }
type StringOptions = Common & {
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly default?: string
}
type NumberOptions = Common & {
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
}
type ListOptions = Common & {
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: readonly []
}

function make<T>(json: JsonSchema): Schema<T> {
  return { json }
}

function isOptional(schema: Schema<unknown>): boolean {
  return 'optional' in schema
}

/** The JSON Schema of an object with these properties; those not wrapped in `s.optional` are required. */
export function objectSchema(properties: Properties, options: Common = {}): JsonSchema {
  const required = Object.entries(properties)
    .filter(([, p]) => !isOptional(p))
    .map(([name]) => name)
  return {
    type: 'object',
    ...options,
    properties: Object.fromEntries(Object.entries(properties).map(([name, p]) => [name, p.json])),
    ...(required.length === 0 ? {} : { required }),
  }
}

const microTimePattern =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}(Z|[+-][0-9]{2}:[0-9]{2})$'

export const s = {
  string: (options: StringOptions = {}) => make<string>({ type: 'string', ...options }),
  /** An RFC 3339 time. */
  time: (options: Common = {}) => make<string>({ type: 'string', format: 'date-time', ...options }),
  /** A time to the microsecond, with six digits: Go clients read no other form, and one such object ends their lists. */
  microTime: (options: Common = {}) =>
    make<string>({ type: 'string', format: 'date-time', pattern: microTimePattern, ...options }),
  /** Bytes, in base64. */
  bytes: (options: Common = {}) => make<string>({ type: 'string', format: 'byte', ...options }),
  /** A string that is one of these. */
  oneOf: <const V extends readonly string[]>(
    values: V,
    options: Common & { readonly default?: V[number] } = {},
  ) => make<V[number]>({ type: 'string', enum: values, ...options }),
  int: (options: NumberOptions = {}) => make<number>({ type: 'integer', format: 'int32', ...options }),
  int64: (options: NumberOptions = {}) =>
    make<number | bigint>({ type: 'integer', format: 'int64', ...options }),
  boolean: (options: Common & { readonly default?: boolean } = {}) =>
    make<boolean>({ type: 'boolean', ...options }),
  intOrString: (options: Common = {}) =>
    make<number | bigint | string>({ 'x-kubernetes-int-or-string': true, ...options }),
  object: <const P extends Properties>(properties: P, options: Common = {}) =>
    make<InferProperties<P>>(objectSchema(properties, options)),
  /** A map with string keys, merged key by key. */
  map: <T>(value: Schema<T>, options: Common = {}) =>
    make<Readonly<Record<string, T>>>({ type: 'object', additionalProperties: value.json, ...options }),
  /** Anything at all, kept as it is. */
  anything: (options: Common = {}) =>
    make<unknown>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...options }),
  /** An object or a map that is replaced as a whole. */
  atomic: <T>(schema: Schema<T>) => make<T>({ ...schema.json, 'x-kubernetes-map-type': 'atomic' }),
  /** A list that is replaced as a whole. */
  atomicList: <T>(item: Schema<T>, options: ListOptions = {}) =>
    make<readonly T[]>({ type: 'array', items: item.json, 'x-kubernetes-list-type': 'atomic', ...options }),
  /** A list without a merge rule in its schema, which clients treat as atomic. */
  list: <T>(item: Schema<T>, options: ListOptions = {}) =>
    make<readonly T[]>({ type: 'array', items: item.json, ...options }),
  /** A list of distinct scalars, merged by value. */
  setList: <T>(item: Schema<T>, options: ListOptions = {}) =>
    make<readonly T[]>({ type: 'array', items: item.json, 'x-kubernetes-list-type': 'set', ...options }),
  /** A list of objects that are told apart by `keys`. */
  mapList: <T>(item: Schema<T>, keys: readonly (keyof T & string)[], options: ListOptions = {}) =>
    make<readonly T[]>({
      type: 'array',
      items: item.json,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': keys,
      ...options,
    }),
  /** A list that strategic merge patch merges by `mergeKey` (`''` for a list of scalars). */
  patchList: <T>(list: Schema<readonly T[]>, mergeKey: string) =>
    make<readonly T[]>({
      ...list.json,
      'x-kubernetes-patch-strategy': 'merge',
      ...(mergeKey === '' ? {} : { 'x-kubernetes-patch-merge-key': mergeKey }),
    }),
  optional: <T>(schema: Schema<T>): OptionalSchema<T> =>
    // The marker exists in types only; `optional` is its run-time form.
    ({ ...schema, optional: true }) as OptionalSchema<T>,
}
