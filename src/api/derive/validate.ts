/**
 * What every write runs: defaults, pruning and structural validation of a kind. Each kind's schema is compiled once,
 * when it is first used.
 */

import type { FieldError } from '../../kernel/field-error.ts'
import { madeOnce } from '../../kernel/made-once.ts'
import type { AnyKind } from '../kind.ts'
import type { KubeObject } from '../meta.ts'
import { objectMetaSchema } from '../meta-schema.ts'
import type { JsonSchema } from '../schema.ts'
import { compileDefaults, type Defaulter } from './defaults.ts'
import { compilePruner, type Pruner } from './pruning.ts'
import { type Check, compileCheck } from './structural.ts'
import { isProven, maxFaults, Walk } from './visit.ts'

type Root = {
  readonly name: string
  readonly required: boolean
  readonly hidden: number
  readonly check: Check
}

type Compiled = {
  readonly defaults: Defaulter
  readonly pruner: Pruner
  readonly roots: readonly Root[]
}

/**
 * An object that has been through all of this: parts of another that are the very same need not go through it again. A
 * status is often all that changes.
 */
export type Proven = KubeObject | undefined

const unchanged: Defaulter = value => value
const keep: Pruner = value => value

const compiled = madeOnce((kind: AnyKind): Compiled => {
  const whole: JsonSchema = {
    ...kind.schema,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: objectMetaSchema.json,
      ...kind.schema.properties,
    },
  }
  return {
    defaults: compileDefaults(whole, kind.protobuf === undefined ? 'dropped' : 'empty') ?? unchanged,
    pruner: compilePruner(whole) ?? keep,
    roots: Object.entries(kind.schema.properties ?? {}).map(([name, schema]) => ({
      name,
      required: kind.schema.required?.includes(name) === true,
      // A kube-apiserver validates a status by itself, and names places from there.
      hidden: name === 'status' && kind.status !== undefined ? 1 : 0,
      check: compileCheck(schema),
    })),
  }
})

/**
 * The object as it would be with all defaults written out, and without nulls where null means not given. Answers the
 * same object when there was nothing to do. Defaults that the kind computes are left out of objects that are not valid
 * against the schema, which `validateSchema` then refuses.
 */
export function applyDefaults(kind: AnyKind, object: KubeObject, proven?: Proven): KubeObject {
  // Defaulting keeps what is there but for nulls, so it is still an object with metadata.
  const filled = compiled(kind).defaults(object, proven) as KubeObject
  if (!kind.hasDefault || validateSchema(kind, filled, proven).length > 0) return filled
  return kind.default(filled)
}

export type Pruned = {
  readonly object: KubeObject
  /** Places of fields that were dropped, as `spec.items[0].foo`; at most 100. */
  readonly unknown: readonly string[]
}

/** Drops what the schema does not know, also in metadata. Answers the same object when all is known. */
export function prune(kind: AnyKind, object: KubeObject, proven?: Proven): Pruned {
  const unknown: string[] = []
  const found = (place: string) => {
    if (unknown.length < maxFaults) unknown.push(place)
  }
  // apiVersion, kind and metadata are known, so they are still there.
  return { object: compiled(kind).pruner(object, new Walk(), found, proven) as KubeObject, unknown }
}

/** What is wrong by the schema alone; metadata is not looked at. */
export function validateSchema(kind: AnyKind, object: KubeObject, proven?: Proven): readonly FieldError[] {
  let walk: Walk | undefined
  for (const root of compiled(kind).roots) {
    const value = object[root.name]
    if (value === undefined ? !root.required : isProven(proven, root.name, value)) continue
    walk ??= new Walk()
    walk.path.push(root.name)
    walk.hidden = root.hidden
    if (value === undefined)
      walk.report({ type: 'FieldValueRequired', field: root.name, message: 'Required value' })
    else root.check(value, walk)
    walk.path.pop()
  }
  return walk?.errors ?? none
}

const none: readonly FieldError[] = []
