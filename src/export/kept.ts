import { equalJson } from '../cluster/json.ts'

/**
 * What a hub of another release keeps of what it is sent: it drops fields that it does not know, and may add some. What it
 * has answered once is as good as what was sent, or it would be sent again and again.
 */
export class Kept {
  readonly #differing = new Map<string, { readonly sent: unknown; readonly answered: unknown }>()
  readonly #onDiffering: (key: string) => void

  constructor(onDiffering: (key: string) => void) {
    this.#onDiffering = onDiffering
  }

  note(key: string, sent: unknown, answered: unknown): void {
    if (equalJson(sent, answered)) {
      this.#differing.delete(key)
      return
    }
    this.#differing.set(key, { sent, answered })
    this.#onDiffering(key)
  }

  forget(key: string): void {
    this.#differing.delete(key)
  }

  /** Whether what the hub holds is what it makes of `wanted`. */
  isHeld(key: string, wanted: unknown, held: unknown): boolean {
    if (equalJson(held, wanted)) return true
    const known = this.#differing.get(key)
    return known !== undefined && equalJson(known.sent, wanted) && equalJson(known.answered, held)
  }
}
