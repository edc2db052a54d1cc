/**
 * From client-side to server-side apply: `kubectl apply` leaves what it applied in an annotation, which says which
 * differences between an object and a new configuration kubectl itself made.
 */
import { fromJson } from '../../kernel/json.ts'
import type { AnyKind } from '../kind.ts'
import type { KubeObject } from '../meta.ts'
import { byText } from '../order.ts'
import { isRecord } from '../record.ts'
import type { Conflict } from './apply-config.ts'
import { compareFields } from './field-changes.ts'
import { claimedFields } from './field-paths.ts'
import { difference, type Fields } from './field-set.ts'
import { shapeOf } from './field-shape.ts'

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'
/** The manager that kubectl calls itself in server-side apply. */
export const kubectl = 'kubectl'
/** All annotations of an object, keys and values. */
const maxAnnotationBytes = 262_144

/** The conflicts that are not about what client-side apply left as it is. */
export function unexplained(
  kind: AnyKind,
  live: KubeObject,
  conflicts: readonly Conflict[],
): readonly Conflict[] {
  const explained = fieldsOfLastApplied(kind, live)
  return conflicts.flatMap(conflict => {
    const fields = difference(conflict.fields, explained)
    return fields === undefined ? [] : [{ ...conflict, fields }]
  })
}

/** What the annotation says and the object still has; nothing when it is of another version. */
function fieldsOfLastApplied(kind: AnyKind, live: KubeObject): Fields {
  const last = parse(live.metadata.annotations?.[lastAppliedAnnotation])
  if (!isRecord(last) || last.apiVersion !== live.apiVersion) return undefined
  const shape = shapeOf(kind)
  const { added, modified, removed } = compareFields(shape, live, last)
  return [added, modified, removed].reduce(difference, claimedFields(shape, last))
}

function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return fromJson(text)
  } catch {
    // Anybody may write the annotation; what is no JSON explains nothing.
    return undefined
  }
}

/** The object with the annotation made anew, where it has one: the next client-side apply starts from there. */
export function withLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  const { annotations = {} } = object.metadata
  if (!annotations[lastAppliedAnnotation]) return object
  const { [lastAppliedAnnotation]: _old, ...others } = annotations
  const next = { ...others, [lastAppliedAnnotation]: `${JSON.stringify(sortedKeys(bare(applied)))}\n` }
  const fits =
    Object.entries(next).reduce((sum, [k, v]) => sum + Buffer.byteLength(k + v), 0) <= maxAnnotationBytes
  return { ...object, metadata: { ...object.metadata, annotations: fits ? next : others } }
}

function bare(applied: KubeObject): KubeObject {
  const { annotations } = applied.metadata
  if (annotations?.[lastAppliedAnnotation] === undefined) return applied
  const { [lastAppliedAnnotation]: _old, ...others } = annotations
  return { ...applied, metadata: { ...applied.metadata, annotations: others } }
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys)
  if (!isRecord(value)) return value
  const names = Object.keys(value).toSorted(byText)
  return Object.fromEntries(names.map(name => [name, sortedKeys(value[name])]))
}
