/** Server-side apply: what becomes of an object, and of who manages it, when a configuration is applied (KEP-555). */

import { atOnce, type Steps } from '../../kernel/turn.ts'
import type { AnyKind } from '../kind.ts'
import type { KubeObject } from '../meta.ts'
import { type Changes, compareFields, noChanges, takenFields } from './field-changes.ts'
import { claimedFields, everyField, withContainers } from './field-paths.ts'
import { difference, type FieldSet, type Fields, intersection, union } from './field-set.ts'
import { emptyOf, ownablePart, shapeOf } from './field-shape.ts'
import { afterUpdate, type FieldManager, isSame, type Writer, without } from './managed-fields.ts'
import { mergeApplied, withoutFields } from './merge-applied.ts'

export type Application = {
  readonly kind: AnyKind
  /** The object as it is. */
  readonly live: KubeObject
  readonly managers: readonly FieldManager[]
  readonly applied: KubeObject
  /** `operation` is Apply. */
  readonly writer: Writer
  readonly force: boolean
}

/** What another manager holds and the configuration would change. */
export type Conflict = { readonly manager: FieldManager; readonly fields: FieldSet }

export type Applied = {
  readonly type: 'applied'
  readonly object: KubeObject
  readonly managers: readonly FieldManager[]
}

type Outcome = { readonly type: 'conflict'; readonly conflicts: readonly Conflict[] } | Applied

const nameOfUnknownUpdaters = 'before-first-apply'

/** Merges, takes away what the writer applied before and no one else holds, and finds who objects. */
export function applyConfig(application: Application): Outcome {
  return atOnce(applySteps(application))
}

/** The same for who has others to serve meanwhile: each step is the work of one look at everything. */
export function* applySteps(application: Application): Steps<Outcome> {
  const { kind, live, writer, force } = application
  const shape = shapeOf(kind)
  const applied = ownablePart(kind, writer.subresource, application.applied)
  const before = knownManagers(application)
  const last = before.find(manager => isSame(manager, writer))
  yield
  const claimed = claimedFields(shape, withoutEmptyMetadata(applied))
  yield
  const others = before.filter(manager => manager !== last)
  const merged = mergeApplied(shape, live, applied)
  yield
  // Whoever applies all that they applied before takes nothing away: that is most of all applies.
  const isPruning = last !== undefined && difference(last.fields, claimed) !== undefined
  const object = isPruning
    ? yield* prunedSteps(application, { merged, applied, last: last.fields, others })
    : merged
  yield
  const changes = compareFields(shape, live, object)
  yield
  const conflicts = conflictsOf(others, changes)
  if (conflicts.length > 0 && !force) return { type: 'conflict', conflicts }
  yield
  const left = without(without(others, takenFields(changes)), changes.removed)
  const managers =
    claimed === undefined
      ? left
      : [...left, { ...writer, time: timeOf(changes, last, writer), fields: claimed }]
  // A merge keeps what an object has to have, and nobody owns it to take it away.
  return { type: 'applied', object: object as KubeObject, managers }
}

/** Metadata are no field of their own: who says nothing in them claims nothing. */
function withoutEmptyMetadata(applied: KubeObject): unknown {
  const { metadata, ...rest } = applied
  return Object.keys(metadata).length === 0 ? rest : applied
}

/** Who changed nothing does not get a new time. */
function timeOf(changes: Changes, last: FieldManager | undefined, writer: Writer): string | undefined {
  return changes === noChanges ? last?.time : writer.time
}

/** An object that nobody is known to manage was made by someone all the same. */
function knownManagers({ kind, live, managers, writer }: Application): readonly FieldManager[] {
  if (managers.length > 0) return managers
  const changes = compareFields(shapeOf(kind), emptyOf(kind), ownablePart(kind, writer.subresource, live))
  return afterUpdate([], changes, { ...writer, name: nameOfUnknownUpdaters, operation: 'Update' })
}

function conflictsOf(others: readonly FieldManager[], changes: Changes): readonly Conflict[] {
  const taken = takenFields(changes)
  if (taken === undefined) return []
  return others.flatMap(manager => {
    const fields = intersection(manager.fields, taken)
    return fields === undefined ? [] : [{ manager, fields }]
  })
}

type Merge = {
  readonly merged: unknown
  readonly applied: KubeObject
  readonly last: FieldSet
  readonly others: readonly FieldManager[]
}

/**
 * Without what the writer applied last and does not apply any more. A container goes when it was the writer's and no one
 * holds anything in it.
 */
function* prunedSteps({ kind }: Application, { merged, applied, last, others }: Merge): Steps<unknown> {
  const shape = shapeOf(kind)
  yield
  const held = others.reduce<Fields>((sum, { fields }) => union(sum, fields), everyField(shape, applied))
  yield
  const gone = difference(withContainers(shape, last), withContainers(shape, held))
  yield
  return withoutFields(shape, merged, gone)
}
