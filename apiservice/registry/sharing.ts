/** What a client sends back of what it has read is most of an object. */
import { isRecord, type JsonRecord, setEntry } from '../../src/api/record.ts'
import { equalJson } from '../../src/cluster/json.ts'

/**
 * The document with every field that is as in the current one taken from there, and the fields of its metadata so, too:
 * nobody need compare them again.
 */
export function sharing(document: JsonRecord, current: JsonRecord | undefined): JsonRecord {
  if (current === undefined) return document
  const metadata =
    isRecord(document.metadata) && isRecord(current.metadata)
      ? sharingFields(document.metadata, current.metadata)
      : document.metadata
  return { ...sharingFields(document, current), metadata }
}

/** The current record itself when it has the same fields. */
function sharingFields(record: JsonRecord, current: JsonRecord): JsonRecord {
  const shared: Record<string, unknown> = {}
  const names = Object.keys(record)
  let isSame = names.length === Object.keys(current).length
  for (const name of names) {
    const value = record[name]
    const there = Object.hasOwn(current, name) ? current[name] : undefined
    const isShared = equalJson(value, there)
    setEntry(shared, name, isShared ? there : value)
    isSame &&= isShared
  }
  return isSame ? current : shared
}
