/** What differs between two states of an object, as sets of fields. */
import { type FieldSet, type Fields, Level, union } from './field-set.ts'

export type Changes = { readonly added: Fields; readonly modified: Fields; readonly removed: Fields }

export const noChanges: Changes = { added: undefined, modified: undefined, removed: undefined }

/** What was found in the parts of two states. */
export class Differences {
  #added: Level | undefined
  #modified: Level | undefined
  #removed: Level | undefined
  readonly #lasts: 'kept' | 'passing'

  constructor(lasts: 'kept' | 'passing') {
    this.#lasts = lasts
  }

  add(element: string, { added, modified, removed }: Changes): void {
    if (added !== undefined) this.come(element, added)
    if (modified !== undefined) {
      this.#modified ??= this.#level()
      this.#modified.add(element, modified)
    }
    if (removed !== undefined) this.go(element, removed)
  }

  come(element: string, fields: FieldSet): void {
    this.#added ??= this.#level()
    this.#added.add(element, fields)
  }

  go(element: string, fields: FieldSet): void {
    this.#removed ??= this.#level()
    this.#removed.add(element, fields)
  }

  #level(): Level {
    return new Level(false, this.#lasts)
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
