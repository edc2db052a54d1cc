/** What differs between two states of an object, as sets of fields. */
import { everyField } from './field-paths.ts'
import { below, type FieldSet, type Fields, Level, leaf, union } from './field-set.ts'
import type { Shape } from './field-shape.ts'
import { type Differing, walkDifferences } from './field-walk.ts'

export type Changes = { readonly added: Fields; readonly modified: Fields; readonly removed: Fields }

export const noChanges: Changes = { added: undefined, modified: undefined, removed: undefined }

/** From one state to the next. Both are given. */
export function compareFields(shape: Shape, before: unknown, after: unknown): Changes {
  const found = new Found(shape.type === 'keyed' || shape.type === 'set' ? 'passing' : 'kept')
  switch (walkDifferences(shape, before, after, found)) {
    case 'none':
      return noChanges
    case 'parts':
      return found.build()
    case 'whole':
      return itself
    case 'replaced':
      return { ...itself, added: partsBelow(shape, after), removed: partsBelow(shape, before) }
  }
}

const itself: Changes = { ...noChanges, modified: leaf }

export function partsBelow(shape: Shape, value: unknown): Fields {
  return below(everyField(shape, value))
}

/** What was found in the parts of two states. */
class Found implements Differing {
  #added: Level | undefined
  #modified: Level | undefined
  #removed: Level | undefined
  readonly #lasts: 'kept' | 'passing'

  constructor(lasts: 'kept' | 'passing') {
    this.#lasts = lasts
  }

  both(element: string, shape: Shape, before: unknown, after: unknown): void {
    const { added, modified, removed } = compareFields(shape, before, after)
    if (added !== undefined) this.#add(element, added)
    if (modified !== undefined) {
      this.#modified ??= new Level(false, this.#lasts)
      this.#modified.add(element, modified)
    }
    if (removed !== undefined) this.#remove(element, removed)
  }

  come(element: string, shape: Shape, after: unknown): void {
    this.#add(element, everyField(shape, after))
  }

  go(element: string, shape: Shape, before: unknown): void {
    this.#remove(element, everyField(shape, before))
  }

  #add(element: string, fields: FieldSet): void {
    this.#added ??= new Level(false, this.#lasts)
    this.#added.add(element, fields)
  }

  #remove(element: string, fields: FieldSet): void {
    this.#removed ??= new Level(false, this.#lasts)
    this.#removed.add(element, fields)
  }

  build(): Changes {
    const [added, modified, removed] = [this.#added, this.#modified, this.#removed]
    if (added === undefined && modified === undefined && removed === undefined) return noChanges
    return { added: added?.build(), modified: modified?.build(), removed: removed?.build() }
  }
}

/** What changed and is still there. */
export function takenFields({ added, modified }: Changes): Fields {
  return union(added, modified)
}
