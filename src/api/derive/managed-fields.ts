/**
 * Who manages which fields (`metadata.managedFields`), and what becomes of that on updates. The rules are those of
 * apimachinery's `managedfields`: whoever changes a field owns it, what is gone is owned by nobody, and at most ten
 * workflows that update are told apart.
 */
import type { ManagedFieldsEntry } from '../meta.ts'
import { byText } from '../order.ts'
import type { Mutable } from '../record.ts'
import { type Changes, compareFields, noChanges, takenFields } from './field-changes.ts'
import { difference, exchanged, type FieldSet, type Fields, parseFields, union } from './field-set.ts'
import type { Shape } from './field-shape.ts'
import { writtenFields } from './owned-fields.ts'

/** One workflow. `time` is in RFC 3339, absent when it never changed a value. */
export type FieldManager = {
  readonly name: string
  readonly operation: 'Apply' | 'Update'
  /** The version that its fields are named in. */
  readonly apiVersion: string
  readonly subresource: string
  readonly time: string | undefined
  readonly fields: FieldSet
  /** What it was read from; says the same for as long as it has the very fields. */
  readonly entry?: ManagedFieldsEntry
}

type Names = Pick<FieldManager, 'name' | 'operation' | 'apiVersion' | 'subresource'>

export type Writer = Names & { readonly time: string }

const maxUpdaters = 10
const nameOfOldUpdaters = 'ancient-changes'

/** The managers that an object carries; undefined when an entry has no meaning. */
export function readManagers(entries: readonly ManagedFieldsEntry[]): readonly FieldManager[] | undefined {
  const managers = entries.map(readManager)
  // Nothing is undefined here once this holds.
  if (managers.includes(undefined)) return undefined
  return managers.flatMap(manager => (manager === undefined || manager === 'empty' ? [] : [manager]))
}

function readManager(entry: ManagedFieldsEntry): FieldManager | 'empty' | undefined {
  const { operation, apiVersion, fieldsType, fieldsV1, manager = '', subresource = '' } = entry
  const isMeaningless = operation !== 'Apply' && operation !== 'Update'
  if (isMeaningless || !isGroupVersion(apiVersion) || fieldsType !== 'FieldsV1') return undefined
  const parsed = parseFields(fieldsV1 ?? {})
  if (parsed === undefined) return undefined
  const { fields } = parsed
  if (fields === undefined) return 'empty'
  return { name: manager, operation, apiVersion, subresource, time: entry.time, fields }
}

function isGroupVersion(text: string | undefined): text is string {
  return text !== undefined && /^[^/]*(\/[^/]*)?$/.test(text) && text !== ''
}

/** Entries that this server wrote, which need no checks. */
export function storedManagers(entries: readonly ManagedFieldsEntry[]): readonly FieldManager[] {
  return entries.map(entry => ({
    name: entry.manager ?? '',
    operation: entry.operation ?? 'Update',
    apiVersion: entry.apiVersion ?? '',
    subresource: entry.subresource ?? '',
    time: entry.time,
    // Written by `toEntries`, from a set of fields.
    fields: entry.fieldsV1 as FieldSet,
    entry,
  }))
}

/** As they are stored: appliers first, then by age. Of a manager that stays as it was read, it is the very entry. */
export function toEntries(managers: readonly FieldManager[]): readonly ManagedFieldsEntry[] {
  const sorted = isByAge(managers) ? managers : managers.toSorted(byAge)
  return sorted.map(manager =>
    manager.entry?.fieldsV1 === manager.fields ? manager.entry : toEntry(manager),
  )
}

function toEntry(manager: FieldManager): ManagedFieldsEntry {
  const { name, operation, apiVersion, time, fields, subresource } = manager
  // In this order, as kube-apiserver writes them.
  const entry: Mutable<ManagedFieldsEntry> = {}
  if (name !== '') entry.manager = name
  entry.operation = operation
  entry.apiVersion = apiVersion
  if (time !== undefined) entry.time = time
  entry.fieldsType = 'FieldsV1'
  entry.fieldsV1 = fields
  if (subresource !== '') entry.subresource = subresource
  return entry
}

/** Mostly they are: who writes is put last and is the youngest. */
function isByAge(managers: readonly FieldManager[]): boolean {
  let before: FieldManager | undefined
  for (const manager of managers) {
    if (before !== undefined && byAge(before, manager) > 0) return false
    before = manager
  }
  return true
}

function byAge(a: FieldManager, b: FieldManager): number {
  return (
    byText(a.operation, b.operation) ||
    byText(a.time ?? '', b.time ?? '') ||
    byText(a.name, b.name) ||
    byText(a.apiVersion, b.apiVersion) ||
    byText(a.subresource, b.subresource)
  )
}

/** An applier is the same at every version. */
export function isSame(a: Names, b: Names): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  )
}

/** Without fields that are gone, and managers that have none left. */
export function without(managers: readonly FieldManager[], fields: Fields): readonly FieldManager[] {
  if (fields === undefined) return managers
  const left: FieldManager[] = []
  for (const manager of managers) {
    const kept = difference(manager.fields, fields)
    if (kept === manager.fields) left.push(manager)
    else if (kept !== undefined) left.push({ ...manager, fields: kept })
  }
  return left
}

/** The managers after a writer made these changes: what it changed is its own, and no one else's. */
export function afterUpdate(
  managers: readonly FieldManager[],
  changes: Changes,
  writer: Writer,
): readonly FieldManager[] {
  if (changes === noChanges) return managers
  const { removed } = changes
  const taken = takenFields(changes)
  if (taken === undefined) return without(managers, removed)
  const others: FieldManager[] = []
  let owned: Fields
  for (const manager of managers) {
    if (isSame(manager, writer)) owned = union(owned, exchanged(manager.fields, removed, taken))
    else others.push(manager)
  }
  const next = { ...writer, fields: owned ?? taken }
  return capped([...without(without(others, taken), removed), next])
}

type States = { readonly shape: Shape; readonly before: unknown; readonly after: unknown }

/** The same of two states. Most write what nobody else does, which needs no look at what the others own. */
export function afterWrite(
  managers: readonly FieldManager[],
  { shape, before, after }: States,
  writer: Writer,
): readonly FieldManager[] {
  const own = managers.find(manager => isSame(manager, writer))
  const { fields, touched, takes } = writtenFields(shape, before, after, own?.fields)
  if (touched.length === 0) return managers
  const others = own === undefined ? managers : managers.filter(manager => manager !== own)
  const isAlone = others.every(other => !isSame(other, writer) && !ownsOf(other, touched))
  if (takes && fields !== undefined && isAlone) return capped([...others, { ...writer, fields }])
  return afterUpdate(managers, compareFields(shape, before, after), writer)
}

function ownsOf({ fields }: FieldManager, elements: readonly string[]): boolean {
  return elements.some(element => element in fields)
}

/** The oldest updates are put together, those of each version by themselves. */
function capped(managers: readonly FieldManager[]): readonly FieldManager[] {
  if (managers.length <= maxUpdaters) return managers
  const updaters = managers.filter(manager => manager.operation === 'Update')
  let surplus = updaters.length - maxUpdaters
  if (surplus <= 0) return managers
  const kept = new Set(managers)
  const oldest = new Map<string, FieldManager>()
  for (const updater of updaters.toSorted(byAge)) {
    const first = oldest.get(updater.apiVersion)
    const merged = first === undefined ? updater : mergedUpdates(first, updater)
    oldest.set(updater.apiVersion, merged)
    if (first === undefined) continue
    kept.delete(first)
    kept.delete(updater)
    kept.add(merged)
    surplus -= 1
    if (surplus === 0) break
  }
  return [...kept]
}

function mergedUpdates(older: FieldManager, newer: FieldManager): FieldManager {
  const fields = union(older.fields, newer.fields) ?? newer.fields
  const { operation, apiVersion, time } = newer
  return { name: nameOfOldUpdaters, operation, apiVersion, subresource: '', time, fields }
}
