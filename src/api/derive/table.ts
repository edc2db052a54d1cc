/** Table rows and columns of a kind (`meta.k8s.io/v1` Table). */
import { madeOnce } from '../../kernel/made-once.ts'
import { type Ages, unknownAge } from '../duration.ts'
import { type AnyKind, ageColumn, type Column } from '../kind.ts'
import type { KubeObject } from '../meta.ts'

export type TableColumn = {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

type TableCell = string | number | bigint | boolean | null

type TableForm = {
  readonly columns: readonly TableColumn[]
  readonly cells: readonly ((object: KubeObject, ages: Ages) => TableCell)[]
}

const nameColumn: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique in its namespace for objects of one kind.',
  priority: 0,
}

const nameCell = (object: KubeObject) => object.metadata.name

const tableForm = madeOnce((kind: AnyKind): TableForm => {
  const declared = kind.columns.length === 0 ? [ageColumn] : kind.columns
  const named = declared.some(c => c.format === 'name')
  return {
    columns: [...(named ? [] : [nameColumn]), ...declared.map(columnOf)],
    cells: [
      ...(named ? [] : [nameCell]),
      // Every object of a kind has its schema's shape; the type of a column's object is lost with the kind's.
      ...declared.map(c => (object: KubeObject, ages: Ages) => c.cell(object as never, ages)),
    ],
  }
})

function columnOf(column: Column<never>): TableColumn {
  const { name, type, description, format = '', priority = 0 } = column
  return { name, type, format, description, priority }
}

/** Name first, unless a column of the kind shows it; then what the kind declares, or Age when it declares nothing. */
export function tableColumns(kind: AnyKind): readonly TableColumn[] {
  return tableForm(kind).columns
}

/**
 * The cells of an object, one for each column, as the JSON of their list. Where a number stands between the texts, the age
 * of that time belongs, in quotes: nothing else changes with time.
 */
export type TableCells = readonly (string | number)[]

/** What an age is while the cells are made. */
const anAge = ''

export function tableCells(kind: AnyKind, object: KubeObject): TableCells {
  const pieces: (string | number)[] = []
  let text = '['
  for (const [index, cell] of tableForm(kind).cells.entries()) {
    if (index > 0) text += ','
    const made = cellOf(cell, object)
    if (typeof made === 'string') {
      text += made
    } else {
      pieces.push(`${text}"`, made.atMs)
      text = '"'
    }
  }
  return [...pieces, `${text}]`]
}

/** The JSON of a cell, or the time whose age it is. */
function cellOf(cell: TableForm['cells'][number], object: KubeObject): string | { readonly atMs: number } {
  let asked: string | undefined
  const ageOf = (time: string | undefined): string => {
    if (time === undefined || time === '') return unknownAge
    asked = time
    return anAge
  }
  const value = cell(object, { ageOf })
  return asked === undefined ? JSON.stringify(value) : { atMs: Date.parse(asked) }
}
