/** Bodies of objects and lists in the format and the shape that were chosen. No stored object is parsed for JSON. */
import { toYaml } from '../../src/codec/yaml.ts'
import { fromJson } from '../../src/kernel/json.ts'
import type { Encoded, Reply, ServedKind } from '../contract.ts'
import type { Choice, Format, Transform } from './accept.ts'
import { ByteWriter } from './bytes.ts'
import { Indenter } from './indent.ts'
import { metadataItems, metadataSizes, namesOf, wholeItems, wholeSizes } from './items.ts'
import {
  type Items,
  indented,
  jsonLength,
  jsonSlices,
  sliceBytes,
  wholeJson,
  yamlSlices,
} from './list-slices.ts'
import { type TableOptions, tableHead, tableRows, tableSizes } from './table.ts'

export type EncodeOptions = TableOptions & { readonly pretty: boolean }

type ListReply = Extract<Reply, { type: 'list' }>
type ObjectReply = Extract<Reply, { type: 'object' }>

export const contentTypes: Readonly<Record<Format, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
}

export function encodeObject(reply: ObjectReply, choice: Choice, options: EncodeOptions): Encoded {
  const { served, object, code } = reply
  if (choice.transform?.as === 'Table') {
    const head = tableHead(
      served,
      choice.transform.version,
      { resourceVersion: String(object.revision) },
      true,
    )
    const rows = rowsAt(served, choice.transform, options)
    return encodeItems({ items: [object], head, ...rows }, choice, { ...options, code })
  }
  const write = choice.transform === undefined ? wholeItems(served) : metadataItems(choice.transform.version)
  const writer = new ByteWriter(object.body.length + 256)
  write(writer, object)
  writer.text('\n')
  return whole(code, writer.written(), choice, options)
}

export function encodeList(reply: ListReply, choice: Choice, options: EncodeOptions): Encoded {
  const { items } = reply
  const parts =
    choice.transform === undefined ? wholeList(reply) : transformedList(reply, choice.transform, options)
  return encodeItems({ items, ...parts }, choice, { ...options, code: 200 })
}

type ListParts = Omit<Items, 'items'>

function wholeList(reply: ListReply): ListParts {
  const names = namesOf(reply.served)
  const metadata = JSON.stringify({ ...metadataOf(reply), continue: reply.continue ?? '' })
  return {
    head: `{"kind":"${names.kind}List","apiVersion":"${names.apiVersion}","metadata":${metadata},"items":[`,
    write: wholeItems(reply.served),
    size: wholeSizes(reply.served),
  }
}

function transformedList(reply: ListReply, transform: Transform, options: EncodeOptions): ListParts {
  const { served } = reply
  const { version } = transform
  if (transform.as === 'Table') {
    return {
      head: tableHead(served, version, metadataOf(reply), true),
      ...rowsAt(served, transform, options),
    }
  }
  return {
    head: `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadataOf(reply))},"items":[`,
    write: metadataItems(version),
    size: metadataSizes(version),
  }
}

/** All rows show ages of one moment: a list that takes long has the length that was told when it began. */
function rowsAt(
  served: ServedKind,
  { version }: Transform,
  { includeObject, now }: EncodeOptions,
): Pick<Items, 'write' | 'size'> {
  const nowMs = now()
  const options = { includeObject, now: () => nowMs }
  return { write: tableRows(served, version, options), size: tableSizes(served, version, options) }
}

function metadataOf(reply: ListReply) {
  return {
    resourceVersion: String(reply.revision),
    ...(reply.continue === undefined ? {} : { continue: reply.continue }),
    ...(reply.remainingItemCount === undefined ? {} : { remainingItemCount: reply.remainingItemCount }),
  }
}

function encodeItems(
  list: Items,
  choice: Choice,
  options: EncodeOptions & { readonly code: number },
): Encoded {
  if (choice.format === 'yaml') {
    const headers = { 'content-type': contentTypes.yaml }
    return { type: 'slices', code: options.code, headers, slices: yamlSlices(list) }
  }
  const length = jsonLength(list)
  if (length < sliceBytes) return whole(options.code, wholeJson(list, length), choice, options)
  const headers = { 'content-type': contentTypes.json }
  const slices = jsonSlices(list)
  if (options.pretty || choice.pretty) {
    return { type: 'slices', code: options.code, headers, slices: indented(slices) }
  }
  return { type: 'slices', code: options.code, headers, slices, length }
}

/** A whole JSON body in the chosen format. */
function whole(code: number, json: Buffer, choice: Choice, options: { readonly pretty: boolean }): Encoded {
  return {
    type: 'bytes',
    code,
    headers: { 'content-type': contentTypes[choice.format] },
    body: laidOut(json, choice, options),
  }
}

export function laidOut(
  json: Buffer,
  choice: Choice,
  options: { readonly pretty: boolean },
): Buffer | string {
  if (choice.format === 'yaml') return toYaml(fromJson(json.toString('utf8')))
  if (!(options.pretty || choice.pretty)) return json
  return Buffer.concat([new Indenter().push(json), Buffer.from('\n')])
}
