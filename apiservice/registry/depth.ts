/** Bounds the nesting of what is stored, so that every stored object can be walked and compared. */

import type { AnyKind } from '../../src/api/kind.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import type { JsonSchema } from '../../src/api/schema.ts'
import { badRequest } from '../../src/kernel/errors.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'

const maxStoredDepth = 1_000

/** Throws 400. Only kinds that keep what their schema does not know can be nested deeper than it. */
export function checkDepth(kind: AnyKind, object: KubeObject): void {
  if (!keepsAnything(kind)) return
  let level: unknown[] = [object]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxStoredDepth) {
      throw badRequest(`the object is nested too deeply: at most ${maxStoredDepth} levels are stored`)
    }
    level = level.flatMap(value => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
}

const keepsAnything = madeOnce((kind: AnyKind) => isOpenWithin(kind.schema))

function isOpenWithin(schema: JsonSchema): boolean {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return true
  const inner = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties]
  return inner.some(found => found !== undefined && isOpenWithin(found))
}
