/** Table rows and columns of a kind (`meta.k8s.io/v1` Table). */
import { type AnyKind, ageColumn, type CellContext, type Column } from '../kind.ts'
import type { KubeObject } from '../meta.ts'
import { perKind } from './visit.ts'

export type TableColumn = {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

export type TableCell = string | number | bigint | boolean | null

type TableForm = {
  readonly columns: readonly TableColumn[]
  readonly cells: readonly ((object: KubeObject, context: CellContext) => TableCell)[]
}

const nameColumn: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique in its namespace for objects of one kind.',
  priority: 0,
}

const nameCell = (object: KubeObject) => object.metadata.name

const tableForm = perKind((kind: AnyKind): TableForm => {
  const declared = kind.columns.length === 0 ? [ageColumn] : kind.columns
  const named = declared.some(c => c.format === 'name')
  return {
    columns: [...(named ? [] : [nameColumn]), ...declared.map(columnOf)],
    cells: [
      ...(named ? [] : [nameCell]),
      // Every object of a kind has its schema's shape; the type of a column's object is lost with the kind's.
      ...declared.map(c => (object: KubeObject, context: CellContext) => c.cell(object as never, context)),
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

/** One cell for each column. */
export function tableCells(kind: AnyKind, object: KubeObject, context: CellContext): readonly TableCell[] {
  return tableForm(kind).cells.map(cell => cell(object, context))
}
