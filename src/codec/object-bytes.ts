/**
 * Stored objects are bytes with two holes, apiVersion and resourceVersion, which are filled when they are sent: both
 * served versions and every store share one encoding. The head is made for each request, the body is everything behind:
 *
 *     {"apiVersion":"g/v","kind":"K","metadata":{"resourceVersion":"7",  |  "name":"web",…},"spec":{…}}
 *                              head                                      |            body
 */
import type { KubeObject, ObjectMeta } from '../api/meta.ts'
import { type JsonRecord, setEntry } from '../api/record.ts'
import { fromJson } from '../kernel/json.ts'
import { endOfString } from './json-cursor.ts'

/** Encodes an object without its apiVersion, kind and resourceVersion. */
export function encodeBody(object: KubeObject): Buffer {
  const encoded: Record<string, unknown> = { metadata: withoutVersion(object.metadata) }
  for (const name of Object.keys(object)) if (isInBody(name)) setEntry(encoded, name, object[name])
  const text = JSON.stringify(encoded)
  // Names that are whole numbers come first in whatever is made of them.
  return Buffer.from(text.startsWith(opening) ? text.slice(opening.length) : inPieces(encoded), 'utf8')
}

const opening = '{"metadata":{'

function isInBody(name: string): boolean {
  return name !== 'apiVersion' && name !== 'kind' && name !== 'metadata'
}

function inPieces({ metadata, ...rest }: JsonRecord): string {
  return `${JSON.stringify(metadata).slice(1, -1)}},${JSON.stringify(rest).slice(1)}`
}

function withoutVersion(metadata: ObjectMeta): ObjectMeta {
  if (metadata.resourceVersion === undefined) return metadata
  const { resourceVersion: _resourceVersion, ...rest } = metadata
  return rest
}

/** What comes before a body; revision 0 leaves the resourceVersion out. */
export function headOf(apiVersion: string, kind: string, revision: number, body: Buffer): string {
  const opening = openingOf(apiVersion, kind)
  return revision === 0 ? opening : `${opening}${beforeRevision}${revision}${behindRevision(body)}`
}

/** What the heads of all objects of a kind begin with. */
export function openingOf(apiVersion: string, kind: string): string {
  return `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":{`
}

export const beforeRevision = '"resourceVersion":"'

export function behindRevision(body: Buffer): '"' | '",' {
  return body[0] === closingBrace ? '"' : '",'
}

/** Where the metadata of a body ends, its closing brace included. */
export function metadataEnd(body: Buffer): number {
  let depth = 1
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]
    if (byte === quote) i = endOfString(body, i)
    else if (byte === openingBrace) depth++
    else if (byte === closingBrace && --depth === 0) return i + 1
  }
  throw new Error('the body of a stored object has no end of its metadata')
}

const quote = 0x22
const openingBrace = 0x7b
const closingBrace = 0x7d

/** A key as it is in bodies. Within a string of JSON no quote stands bare, so what looks like a key is one. */
export function keyBytes(key: string): Buffer {
  return Buffer.from(`${JSON.stringify(key)}:`)
}

const uidKey = Buffer.from('"uid":"')

/**
 * The uid of a stored object, where it stands before all that is nested, as the server writes it. Undefined elsewhere:
 * parsing finds it.
 */
export function uidAtStart(body: Buffer): string | undefined {
  const start = body.indexOf(uidKey) + uidKey.length
  const nested = body.indexOf(openingBrace)
  const end = body.indexOf(quote, start)
  if (start < uidKey.length || (nested >= 0 && nested < start)) return undefined
  const uid = body.toString('latin1', start, end)
  return /^[\da-f-]{36}$/.test(uid) ? uid : undefined
}

/** The whole object again. */
export function decodeBody(
  apiVersion: string,
  kind: string,
  stored: { revision: number; body: Buffer },
): KubeObject {
  const text = headOf(apiVersion, kind, stored.revision, stored.body) + stored.body.toString('utf8')
  // The bytes were made by encodeBody from an object of this shape.
  return fromJson(text) as KubeObject
}
