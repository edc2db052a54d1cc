/** What keeps a configuration from being applied, in the words of structured-merge-diff. */
import { isRecord } from '../record.ts'
import { fieldShape, itemElement, missingKeys } from './field-paths.ts'
import { elementText, fieldElement, valueElement } from './field-set.ts'
import type { Shape } from './field-shape.ts'
import { maxOwnedItems } from './structural.ts'
import { maxFaults } from './visit.ts'

type List = Extract<Shape, { readonly type: 'set' | 'keyed' }>

/** Items of lists that cannot be told apart, as `.spec.list: duplicate entries for key [name="a"]`. At most 100. */
export function appliedFaults(shape: Shape, value: unknown): readonly string[] {
  const faults: string[] = []
  visit(shape, value, '', faults)
  return faults.slice(0, maxFaults)
}

function visit(shape: Shape, value: unknown, path: string, faults: string[]): void {
  if (!mayHaveLists(shape)) return
  if ((shape.type === 'set' || shape.type === 'keyed') && Array.isArray(value)) {
    visitItems(shape, value, path, faults)
  } else if ((shape.type === 'struct' || shape.type === 'map') && isRecord(value)) {
    for (const [name, inner] of Object.entries(value)) {
      const found = fieldShape(shape, name)
      if (found !== undefined) visit(found, inner, path + elementText(fieldElement(name)), faults)
    }
  }
}

/** Of very many scalars not even the places are looked at. */
function mayHaveLists(shape: Shape): boolean {
  if (shape.type === 'map') return mayHaveLists(shape.values)
  return shape.type !== 'whole' && shape.type !== 'free'
}

function visitItems(shape: List, items: readonly unknown[], path: string, faults: string[]): void {
  if (items.length > maxOwnedItems) {
    faults.push(`${path}: Too many: ${items.length}: must have at most ${maxOwnedItems} items`)
    return
  }
  const seen = new Set<string>()
  for (const item of items) {
    const element = shape.type === 'keyed' ? itemElement(shape, item) : valueElement(item)
    const place = elementText(element)
    if (shape.type === 'keyed') {
      for (const key of missingKeys(shape, item)) {
        faults.push(
          `${path}: associative list with keys has an element that omits key field ${JSON.stringify(key)} (and doesn't have default value)`,
        )
      }
      visit(shape.items, item, path + place, faults)
    }
    if (seen.has(element)) faults.push(`${path}: duplicate entries for key ${place}`)
    seen.add(element)
  }
}
