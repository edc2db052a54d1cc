/** Tables (`meta.k8s.io` Table): what kubectl prints. */

import { type TableCells, tableCells, tableColumns } from '../../src/api/derive/table.ts'
import { ageChangesAt, ageText } from '../../src/api/duration.ts'
import { type AnyKind, apiVersionOf } from '../../src/api/kind.ts'
import { decodeBody, metadataEnd } from '../../src/codec/object-bytes.ts'
import { badRequest } from '../../src/kernel/errors.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
import type { ServedKind } from '../contract.ts'
import type { StoredObject } from '../store-contract.ts'
import type { Transform } from './accept.ts'
import type { ByteWriter } from './bytes.ts'
import { type ItemForm, metadataUpTo, type WriteItem, wholeItems } from './items.ts'

/** What the rows of a Table carry besides their cells. */
export type IncludeObject = 'Metadata' | 'Object' | 'None'

/** `now` is asked for each row: a watch goes on for hours. */
export type TableOptions = { readonly includeObject: IncludeObject; now(): number }

/** Reads `?includeObject=`; throws 400. */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? ''
  switch (value) {
    case '':
    case 'Metadata':
      return 'Metadata'
    case 'Object':
    case 'None':
      return value
    default:
      throw badRequest(
        `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
      )
  }
}

/** The JSON of a Table up to its rows; `metadata` is its ListMeta. */
export function tableHead(
  served: ServedKind,
  version: Transform['version'],
  metadata: unknown,
  withColumns: boolean,
): string {
  const columns = withColumns ? tableColumns(served.kind) : []
  return `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadata)},"columnDefinitions":${JSON.stringify(columns)},"rows":[`
}

export function tableRows(
  served: ServedKind,
  version: Transform['version'],
  options: TableOptions,
): WriteItem {
  const rowOf = rememberedRows(served.kind)
  const write = rowObject(served, version, options.includeObject)
  const ageOf = ages(options)
  return (writer, object) => {
    const { cells, metadataEnd: end } = rowOf(object)
    writer.ascii(beforeCells)
    for (const piece of cells) {
      if (typeof piece === 'string') writer.text(piece)
      else writer.ascii(ageOf(piece))
    }
    writer.ascii(beforeObject)
    write(writer, object, end)
    writer.ascii('}')
  }
}

/** All rows of a list show ages of one moment, however long it takes to send. */
export function rowForm(served: ServedKind, version: Transform['version'], options: TableOptions): ItemForm {
  const nowMs = options.now()
  const { includeObject } = options
  const rowOf = rememberedRows(served.kind)
  return {
    write: tableRows(served, version, { includeObject, now: () => nowMs }),
    shape: `Table ${version} ${includeObject} ${apiVersionOf(served.kind, served.version)} ${served.kind.kind}`,
    time: {
      nowMs,
      changesAt: object => {
        const times = rowOf(object).cells.filter(piece => typeof piece === 'number')
        return Math.min(...times.map(atMs => ageChangesAt(atMs, nowMs)))
      },
    },
  }
}

const beforeCells = '{"cells":'
const beforeObject = ',"object":'

/** Many objects are made in one second. */
function ages({ now }: TableOptions): (atMs: number) => string {
  let last = { atMs: 0, nowMs: 0, text: ageText(0, 0) }
  return atMs => {
    const nowMs = now()
    if (last.atMs !== atMs || last.nowMs !== nowMs) last = { atMs, nowMs, text: ageText(atMs, nowMs) }
    return last.text
  }
}

type Row = { readonly cells: TableCells; readonly metadataEnd: number }

/** Lists are made again and again of the same versions of objects, which need not be read each time. */
const rememberedRows = madeOnce((kind: AnyKind) =>
  madeOnce(
    (object: StoredObject): Row => ({
      cells: tableCells(kind, decodeBody('', kind.kind, object)),
      metadataEnd: metadataEnd(object.body),
    }),
  ),
)

type WriteRowObject = (writer: ByteWriter, object: StoredObject, metadataEnd: number) => void

function rowObject(
  served: ServedKind,
  version: Transform['version'],
  include: IncludeObject,
): WriteRowObject {
  switch (include) {
    case 'Metadata':
      return metadataUpTo(version)
    case 'Object':
      return wholeItems(served)
    case 'None':
      return writer => writer.text('null')
  }
}

/** The one row of a bookmark: no cell says anything, its object says how far the stream has come. */
export function bookmarkRow(served: ServedKind, object: string): string {
  const cells = tableColumns(served.kind).map((_, index) => (index === 0 ? '' : null))
  return `{"cells":${JSON.stringify(cells)},"object":${object}}`
}
