import type { TableCells } from '../../src/api/derive/table.ts'
import { ageText } from '../../src/api/duration.ts'

/** What a client reads, with the ages of a time. */
export function shownCells(cells: TableCells, nowMs: number): readonly unknown[] {
  return JSON.parse(cells.map(piece => (typeof piece === 'string' ? piece : ageText(piece, nowMs))).join(''))
}
