import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { badRequest } from '../../src/kernel/errors.ts'
import type { ApiRequest, RequestNotes, UserInfo } from '../contract.ts'
import { readBody } from './body.ts'
import { type Connection, connectionOf } from './connection.ts'
import { toRequestInfo } from './route.ts'

export type RawRequest = IncomingMessage | Http2ServerRequest

const maxAuditId = 128

const anonymous: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'], extra: {} }

/** What a request can bring about beside its answer. */
export type Sides = Pick<ApiRequest, 'warn'> & Pick<RequestNotes, 'giveUp'>

/** Reads everything but the body. `target` is the request target as it was sent. Throws 400 on what is no proper request. */
export function toApiRequest(raw: RawRequest, target: string, sides: Sides): ApiRequest {
  if (raw.httpVersion === '1.1' && raw.headers.host === undefined) {
    throw badRequest('missing required Host header')
  }
  const method = (raw.method ?? '').toUpperCase()
  const { path, query } = splitTarget(target)
  const connection = connectionOf(raw)
  let body: Promise<Buffer> | undefined
  return {
    method,
    path,
    query,
    info: toRequestInfo(method, path, query),
    headers: headersOf(raw.rawHeaders, connection),
    peer: connection.peer,
    user: anonymous,
    notes: { auditId: auditIdOf(raw), target, giveUp: sides.giveUp },
    body: () => (body ??= readBody(raw)),
    warn: sides.warn,
  }
}

/** The client's own, cut off; a new one without. */
export function auditIdOf(raw: RawRequest): string {
  const auditId = raw.headers['audit-id']
  return typeof auditId === 'string' && auditId !== '' ? auditId.slice(0, maxAuditId) : randomUUID()
}

/** Nobody writes to a query. */
const noQuery = new URLSearchParams()

function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const origin = target.startsWith('/') ? target : withoutAuthority(target)
  const mark = origin.indexOf('?')
  const encoded = mark < 0 ? origin : origin.slice(0, mark)
  return {
    path: encoded.includes('%') ? decode(encoded) : encoded,
    query: mark < 0 ? noQuery : new URLSearchParams(origin.slice(mark + 1)),
  }
}

/** The absolute form of RFC 9112 §3.2.2, which clients send to proxies, means its path. */
function withoutAuthority(target: string): string {
  const match = /^https?:\/\/[^/?]*(\/.*)?$/i.exec(target)
  return match === null ? target : (match[1] ?? '/')
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw badRequest(
      `the request path is not properly percent-encoded: ${JSON.stringify(path.slice(0, 200))}`,
    )
  }
}

type Headers = ApiRequest['headers']

/**
 * A client mostly sends the same headers with each request of a connection: they are read once. Over HTTP/2 the path is
 * one of them, so no two are the same there.
 */
function headersOf(raw: readonly string[], connection: Connection): Headers {
  if (raw[0]?.startsWith(':')) return toHeaders(raw)
  const { last } = connection
  if (last !== undefined && isSame(last.raw, raw)) return last.headers
  const headers = toHeaders(raw)
  connection.last = isShort(raw) ? { raw, headers } : undefined
  return headers
}

/** A connection at rest shall not hold much: letters, and for each of the texts what it takes itself. */
const maxRemembered = 8 * 1024
const lettersOfText = 32

function isShort(raw: readonly string[]): boolean {
  let length = raw.length * lettersOfText
  for (const text of raw) length += text.length
  return length <= maxRemembered
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false
  return true
}

/**
 * Every header line by its lower-case name. Node joins repeated headers with commas, which group names may hold, and
 * reads bytes as latin1, where Kubernetes writes UTF-8.
 */
function toHeaders(raw: readonly string[]): Headers {
  const headers = new Map<string, string[]>()
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase()
    if (name.startsWith(':')) continue
    const value = toUtf8(raw[i + 1] ?? '')
    const values = headers.get(name)
    if (values === undefined) headers.set(name, [value])
    else values.push(value)
  }
  return headers
}

function toUtf8(latin1: string): string {
  for (let i = 0; i < latin1.length; i++) {
    if (latin1.charCodeAt(i) > 0x7f) return Buffer.from(latin1, 'latin1').toString('utf8')
  }
  return latin1
}
