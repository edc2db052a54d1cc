/** Bodies of objects and lists in the format and the shape that were chosen. No stored object is parsed for JSON. */
import { toYaml } from '../../src/codec/yaml.ts'
import { fromJson } from '../../src/kernel/json.ts'
import type { Encoded, Reply } from '../contract.ts'
import type { Choice, Format, Transform } from './accept.ts'
import { ByteWriter } from './bytes.ts'
import { Indenter } from './indent.ts'
import {
  type Items,
  metadataForm,
  metadataItems,
  namesOf,
  wholeForm,
  wholeItems,
  wholeTexts,
} from './items.ts'
import { indented, jsonLength, jsonSlices, wholeJson, yamlSlices } from './list-slices.ts'
import { rowForm, type TableOptions, tableHead } from './table.ts'
import { zippedJson } from './zipped-list.ts'

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
    const form = rowForm(served, choice.transform.version, options)
    return encodeItems({ items: [object], head, form }, choice, { ...options, code })
  }
  if (isPlain(choice, options) && object.body.length <= shortBytes) {
    return { type: 'bytes', code, headers: jsonHeaders, body: wholeTexts(served)(object), encoding: 'latin1' }
  }
  const write = choice.transform === undefined ? wholeItems(served) : metadataItems(choice.transform.version)
  const writer = new ByteWriter(object.body.length + 256)
  write(writer, object)
  writer.text('\n')
  return whole(code, writer.written(), choice, options)
}

/**
 * A body of up to so many bytes is made as a text: Node sends it in one piece with the head before it, and bytes by
 * themselves, for which there would have to be memory outside of the heap, too.
 */
const shortBytes = 16 * 1024

const jsonHeaders = { 'content-type': contentTypes.json }

function isPlain(choice: Choice, options: EncodeOptions): boolean {
  return choice.transform === undefined && choice.format === 'json' && !(choice.pretty || options.pretty)
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
    form: wholeForm(reply.served),
  }
}

function transformedList(reply: ListReply, transform: Transform, options: EncodeOptions): ListParts {
  const { served } = reply
  const { version } = transform
  if (transform.as === 'Table') {
    return {
      head: tableHead(served, version, metadataOf(reply), true),
      form: rowForm(served, version, options),
    }
  }
  return {
    head: `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadataOf(reply))},"items":[`,
    form: metadataForm(version),
  }
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
  if (!isLong(list)) return whole(options.code, wholeJson(list), choice, options)
  const headers = { 'content-type': contentTypes.json }
  const slices = jsonSlices(list)
  if (options.pretty || choice.pretty) {
    return { type: 'slices', code: options.code, headers, slices: indented(slices) }
  }
  const { size } = list.form
  return {
    type: 'slices',
    code: options.code,
    headers,
    slices,
    ...(size === undefined ? {} : { length: () => jsonLength(list, size) }),
    zipped: () => zippedJson(list),
  }
}

/** Longer lists are made in slices, and compressed. */
const longBytes = 128 * 1024

/** By what is stored: a form may write less. */
function isLong({ items }: Items): boolean {
  let bytes = 0
  return items.some(({ body }) => {
    bytes += body.length
    return bytes > longBytes
  })
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
