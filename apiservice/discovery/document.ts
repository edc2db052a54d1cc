import { createHash } from 'node:crypto'
import { type AcceptClause, parseAccept } from '../../src/codec/accept.ts'
import type { ApiRequest, Reply } from '../contract.ts'

export type Answer = (request: ApiRequest) => Reply

/** Bytes that are made once and served many times, with the tag that tells one content from another. */
export type Document = { readonly body: Buffer; readonly etag: string; readonly hash: string }

export function toDocument(content: unknown): Document {
  return withTag(Buffer.from(`${JSON.stringify(content)}\n`, 'utf8'))
}

export function withTag(body: Buffer): Document {
  const hash = createHash('sha512').update(body).digest('hex').toUpperCase()
  return { body, hash, etag: `"${hash}"` }
}

/** The document, or 304 when the client has it. */
export function documentReply(
  request: ApiRequest,
  document: Document,
  headers: Readonly<Record<string, string>>,
): Reply {
  const all = { ...headers, etag: document.etag }
  if (hasTag(request, document.etag)) return { type: 'raw', code: 304, headers: all, body: '' }
  return { type: 'raw', code: 200, headers: all, body: document.body }
}

function hasTag(request: ApiRequest, etag: string): boolean {
  const tags = (request.headers.get('if-none-match') ?? []).flatMap(line => line.split(','))
  return tags.some(tag => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*')
}

export function jsonReply(body: Buffer | string): Reply {
  return { type: 'raw', code: 200, headers: { 'content-type': 'application/json' }, body }
}

const anything: readonly AcceptClause[] = [{ type: '*/*', params: new Map() }]

/** What the client takes, best first. */
export function clausesOf(request: ApiRequest): readonly AcceptClause[] {
  const accept = request.headers.get('accept')?.join(',') ?? ''
  return accept === '' ? anything : parseAccept(accept)
}

export function isJson(clause: AcceptClause): boolean {
  return clause.type === 'application/json' || clause.type === 'application/*' || clause.type === '*/*'
}

/** JSON that is not asked to be of another shape. */
export function isPlainJson(clause: AcceptClause): boolean {
  return isJson(clause) && !clause.params.has('as')
}

export function acceptsJson(request: ApiRequest): boolean {
  return clausesOf(request).some(isPlainJson)
}

/** Makes a value when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
