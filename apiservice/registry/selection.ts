/**
 * Which stored objects a list or a watch shows, and as what. Labels and fields of an object version are read out of
 * its bytes once, however many watchers ask, and never when nobody selects by them.
 */

import type { AnyKind } from '../../src/api/kind.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { type Labels, matchesFields, matchesLabels } from '../../src/api/selector.ts'
import { decodeBody, metadataEnd } from '../../src/codec/object-bytes.ts'
import { badRequest } from '../../src/kernel/errors.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
import type { View } from '../contract.ts'
import type { ObjectKey, Scope, StoredObject } from '../store-contract.ts'
import type { Selectors } from './list-options.ts'
import type { Call } from './parts.ts'

/** The object as it is shown, or undefined when it is not. */
export type Show = (object: StoredObject) => StoredObject | undefined

/** What a list or a watch looks at. */
export type Selection = {
  /** Of a view over all namespaces: the one whose part of it this is. Undefined when there are no parts. */
  readonly within: string | undefined
  readonly scope: Scope
  /** Absent: every object of the scope, as it is. */
  readonly show: Show | undefined
  /** Whether selectors leave some objects out; then nobody can tell how many are left. */
  readonly isFiltered: boolean
  /** Where all is that may be shown, when the selectors name it. Names beyond ASCII are searched for. */
  readonly only: readonly ObjectKey[] | undefined
  /** Of a view: where that is which is shown under a name, or would be. */
  readonly keysOf: View['keysOf'] | undefined
}

/**
 * The parts of what a list or a watch shows, in order: one; of a view over all namespaces, what each of them sees. Throws
 * 400 for a field that the kind does not select by.
 */
export function selectionsOf(
  call: Call,
  selectors: Selectors,
  view: View | undefined,
): readonly [Selection, ...Selection[]] {
  if (view === undefined || call.namespace !== '') return [selectionOf(call, selectors, view)]
  const wanted = demanded(selectors, namespaceField)
  const [first = '', ...others] = view.namespaces().filter(name => wanted === undefined || name === wanted)
  const partOf = (namespace: string): Selection => ({
    ...selectionOf({ ...call, namespace }, selectors, view),
    within: namespace,
  })
  return [partOf(first), ...others.map(partOf)]
}

/** Throws 400 for a field that the kind does not select by. */
export function selectionOf(call: Call, selectors: Selectors, view: View | undefined): Selection {
  const wanted = withName(call, selectors)
  checkFields(call.resource.kind, wanted)
  const matches = matcherOf(call.resource.kind, wanted)
  const name = demanded(wanted, nameField)
  if (view !== undefined) {
    const only = name !== undefined && isAscii(name) ? view.keysOf(name) : undefined
    const keysOf: View['keysOf'] = shown => view.keysOf(shown)
    return { ...viewSelection(call, view, matches), within: undefined, only, keysOf }
  }
  const resource = call.resource.qualified
  const namespace = namespaceOf(call, wanted)
  const isOneKey = name !== undefined && (call.resource.kind.scope === 'Cluster' || namespace !== '')
  return {
    within: undefined,
    scope: { resources: [resource], namespace },
    show: matches && showing(matches),
    isFiltered: matches !== undefined,
    only: isOneKey && isAscii(name) ? [{ resource, namespace, name }] : undefined,
    keysOf: undefined,
  }
}

type Matcher = (object: StoredObject) => boolean

function showing(matches: Matcher): Show {
  return object => (matches(object) ? object : undefined)
}

function viewSelection(
  call: Call,
  view: View,
  matches: Matcher | undefined,
): Omit<Selection, 'within' | 'only' | 'keysOf'> {
  const { namespace } = call
  return {
    scope: { resources: view.resources, namespace: '' },
    show: object => {
      if (!view.visible(namespace, object)) return undefined
      const shown = view.render(namespace, object)
      return matches === undefined || matches(shown) ? shown : undefined
    },
    isFiltered: true,
  }
}

/** A watch of one item, by the deprecated path, is a watch of the collection that selects it. */
function withName({ name }: Call, selectors: Selectors): Selectors {
  if (name === '' || demanded(selectors, nameField) !== undefined) return selectors
  return { ...selectors, fields: [...selectors.fields, { field: nameField, value: name, equal: true }] }
}

const nameField = 'metadata.name'
const namespaceField = 'metadata.namespace'

function checkFields(kind: AnyKind, { fields }: Selectors): void {
  for (const { field } of fields) {
    const known =
      field === nameField ||
      (field === namespaceField && kind.scope === 'Namespaced') ||
      Object.hasOwn(kind.selectableFields, field)
    if (!known) throw badRequest(`field label not supported: ${field}`)
  }
}

/** All namespaces, narrowed to the one that a field selector demands. */
function namespaceOf({ namespace }: Call, { fields }: Selectors): string {
  if (namespace !== '') return namespace
  return demanded({ fields }, namespaceField) ?? ''
}

function isAscii(text: string): boolean {
  return /^[!-~]*$/.test(text)
}

function demanded({ fields }: Pick<Selectors, 'fields'>, field: string): string | undefined {
  return fields.find(term => term.field === field && term.equal)?.value
}

function matcherOf(kind: AnyKind, { labels, fields }: Selectors): Matcher | undefined {
  const byField: Matcher | undefined =
    fields.length === 0 ? undefined : object => matchesFields(fields, field => fieldOf(kind, object, field))
  const byLabel: Matcher | undefined =
    labels.length === 0 ? undefined : object => matchesLabels(labels, labelsOf(object))
  return byField === undefined || byLabel === undefined ? (byField ?? byLabel) : both(byField, byLabel)
}

function both(first: Matcher, second: Matcher): Matcher {
  return object => first(object) && second(object)
}

const noLabels: Labels = {}
/** A body without this text has no labels; with it the labels may still be another map of that name. */
const labelsKey = Buffer.from('"labels":{')

const labelsOf = madeOnce(({ body }: StoredObject): Labels => {
  if (!body.includes(labelsKey)) return noLabels
  const metadata: KubeObject['metadata'] = JSON.parse(`{${body.toString('utf8', 0, metadataEnd(body))}`)
  return metadata.labels ?? noLabels
})

function fieldOf(kind: AnyKind, object: StoredObject, field: string): string {
  if (field === nameField) return object.name
  if (field === namespaceField) return object.namespace
  return fieldsOf(kind)(object).get(field) ?? ''
}

const fieldsOf = madeOnce((kind: AnyKind) =>
  madeOnce((stored: StoredObject): ReadonlyMap<string, string> => {
    const object = decodeBody('', '', stored)
    return new Map(
      Object.entries(kind.selectableFields).map(([field, read]) => [field, readField(read, object)]),
    )
  }),
)

function readField(read: (object: never) => string, object: KubeObject): string {
  // Stored objects have been accepted by the schema of the kind that declares the reader.
  return read(object as never)
}
