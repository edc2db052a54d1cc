/** Tables (`meta.k8s.io` Table): what kubectl prints. */
import { tableCells, tableColumns } from '../../src/api/derive/table.ts'
import { decodeBody } from '../../src/codec/object-bytes.ts'
import { badRequest } from '../../src/kernel/errors.ts'
import type { ServedKind } from '../contract.ts'
import type { Transform } from './accept.ts'
import { metadataItems, namesOf, type WriteItem, wholeItems } from './items.ts'

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
  const names = namesOf(served)
  const writeObject = rowObject(served, version, options.includeObject)
  return (writer, object) => {
    const decoded = decodeBody(names.apiVersion, names.kind, object)
    writer.text(
      `{"cells":${JSON.stringify(tableCells(served.kind, decoded, { nowMs: options.now() }))},"object":`,
    )
    writeObject(writer, object)
    writer.text('}')
  }
}

function rowObject(served: ServedKind, version: Transform['version'], include: IncludeObject): WriteItem {
  switch (include) {
    case 'Metadata':
      return metadataItems(version)
    case 'Object':
      return wholeItems(namesOf(served))
    case 'None':
      return writer => writer.text('null')
  }
}

/** The one row of a bookmark: no cell says anything, its object says how far the stream has come. */
export function bookmarkRow(served: ServedKind, object: string): string {
  const cells = tableColumns(served.kind).map((_, index) => (index === 0 ? '' : null))
  return `{"cells":${JSON.stringify(cells)},"object":${object}}`
}
