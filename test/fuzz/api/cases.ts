/** Requests that nobody means well: samples of every kind, damaged, and things that have no meaning at all. */
import { sampleOf } from '../../../src/api/derive/sample.ts'
import { type AnyKind, apiVersionOf } from '../../../src/api/kind.ts'
// JSON.stringify then writes all digits of a bigint.
import '../../../src/kernel/json.ts'
import type { ApiCall } from '../../support/api-client.ts'
import { type Next, oneOf } from '../random.ts'
import { damaged, damagedBytes, type Json } from './damage.ts'
import { protobufBody } from './protobuf-bodies.ts'
import { randomSelector } from './selectors.ts'

export type Case = {
  readonly server: string
  readonly protocol: 'HTTP/1.1' | 'HTTP/2'
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** In base64; empty for none. */
  readonly body: string
  /** What must not be there before, and what must. */
  readonly gone?: string
  readonly before?: readonly { readonly path: string; readonly call: ApiCall }[]
}

/** What a server serves. */
export type Served = { readonly server: string; readonly kinds: readonly AnyKind[] }

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
] as const
const bodyTypes = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  ...patchTypes,
  'text/plain',
  'application/json; charset=utf-16',
  '',
  ';',
  'application/cbor',
] as const
const accepts = [
  'application/json',
  'application/yaml',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v9;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf',
  'application/json;stream=watch',
  '*/*;q=0',
  ',,,;;;q=q',
  'application/json;q=1e309',
  'text/html',
] as const
const texts = [
  '',
  '0',
  '1',
  '-1',
  '00',
  '9223372036854775808',
  '1e3',
  'NaN',
  'true',
  'a',
  '%',
  '~',
  '..',
  'a=b',
  '!a',
  'a in (b',
  'a notin ()',
  'metadata.name=a',
  'metadata.name!=',
  '=,=',
  ',',
  '(',
  '\\',
  '"',
  "'",
  '\u0000',
  '\u20ac',
  '{}',
  '[]',
  'null',
  'Exact',
  'NotOlderThan',
  'Strict',
  'Warn',
  'Ignore',
  'All',
  'Background',
  'Foreground',
  'Orphan',
  'Object',
  'None',
] as const
const parameters = [
  'labelSelector',
  'fieldSelector',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'timeoutSeconds',
  'timeout',
  'watch',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'pretty',
  'dryRun',
  'fieldManager',
  'fieldValidation',
  'force',
  'gracePeriodSeconds',
  'propagationPolicy',
  'orphanDependents',
  'includeObject',
  'x',
] as const
const roots = [
  '/',
  '/api',
  '/apis',
  '/api/v1',
  '/openapi/v2',
  '/openapi/v3',
  '/version',
  '/healthz',
  '/livez',
  '/readyz',
  '/metrics',
  '/nothing',
] as const

export function randomCase(served: readonly Served[], next: Next): Case {
  // There is a server, and it serves something.
  const { server, kinds } = oneOf(served, next) as Served
  const written = next(15) === 0 ? protobufCase(server, kinds, next) : undefined
  if (written !== undefined) return written
  const kind = oneOf(kinds, next) as AnyKind
  if (next(40) === 0) return watchCase(server, kind, next)
  const method = next(3) === 0 ? (oneOf(methods, next) ?? 'GET') : usualMethod(next)
  const content = method === 'GET' || method === 'HEAD' ? undefined : contentFor(kind, method, next)
  return {
    server,
    protocol: next(2) === 0 ? 'HTTP/1.1' : 'HTTP/2',
    method,
    path: pathFor(kind, method, next) + queryFor(next),
    headers: headersFor(content?.type, next),
    body: content?.body.toString('base64') ?? '',
  }
}

function protobufCase(server: string, kinds: readonly AnyKind[], next: Next): Case | undefined {
  const written = protobufBody(kinds, next)
  if (written === undefined) return undefined
  const { kind, name, bytes } = written
  const isUpdate = next(3) === 0
  return {
    server,
    protocol: next(2) === 0 ? 'HTTP/1.1' : 'HTTP/2',
    method: isUpdate ? 'PUT' : 'POST',
    path: collectionOf(kind, next) + (isUpdate ? `/${encodeURIComponent(name)}` : ''),
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: bytes.toString('base64'),
  }
}

function watchCase(server: string, kind: AnyKind, next: Next): Case {
  const query = new URLSearchParams({ watch: '1', timeoutSeconds: '1', allowWatchBookmarks: 'true' })
  if (next(2) === 0) query.set('labelSelector', randomSelector(next))
  if (next(2) === 0) query.set('fieldSelector', randomSelector(next))
  if (next(3) === 0) {
    query.set('sendInitialEvents', 'true')
    query.set('resourceVersionMatch', 'NotOlderThan')
  }
  return {
    server,
    protocol: next(2) === 0 ? 'HTTP/1.1' : 'HTTP/2',
    method: 'GET',
    path: `${collectionOf(kind, next)}?${query}`,
    headers: next(3) === 0 ? { accept: oneOf(accepts, next) ?? '' } : {},
    body: '',
  }
}

function usualMethod(next: Next): string {
  return oneOf(['GET', 'POST', 'PUT', 'PATCH', 'PATCH', 'DELETE'] as const, next) ?? 'GET'
}

// ---- paths ------------------------------------------------------------------------------------------------------

function pathFor(kind: AnyKind, method: string, next: Next): string {
  if (next(20) === 0) return printable(damagedBytes(Buffer.from(oneOf(roots, next) ?? '/'), next), '/')
  const path = collectionOf(kind, next) + itemFor(kind, method, next)
  return next(12) === 0 ? oddPath(path, next) : path
}

function collectionOf(kind: AnyKind, next: Next): string {
  const version = oneOf(kind.versions, next)?.name ?? ''
  const root = `${kind.group === '' ? '/api' : '/apis'}/${apiVersionOf(kind, version)}`
  const namespace = kind.scope === 'Namespaced' && next(8) > 0 ? '/namespaces/default' : ''
  return `${root}${namespace}/${kind.plural}`
}

function itemFor(kind: AnyKind, method: string, next: Next): string {
  const isItem = method === 'PUT' || method === 'PATCH' || (method !== 'POST' && next(2) === 0)
  const sub = next(8) === 0 ? (oneOf(['/status', '/finalize', '/scale', '/'] as const, next) ?? '') : ''
  return (isItem ? `/${sampleOf(kind).metadata.name}` : '') + sub
}

function oddPath(path: string, next: Next): string {
  const ways = [
    () => path.replaceAll('/', '//'),
    () => `${path}/../..`,
    () => path.replace(/[a-z]/, letter => `%${letter.charCodeAt(0).toString(16)}`),
    () => `${path}%`,
    () => `${path}%00%2f%2e%2e`,
    () => `${path}/${'a'.repeat(next(6_000))}`,
    () => `${path}${'/a'.repeat(next(2_000))}`,
    () => printable(damagedBytes(Buffer.from(path), next), path),
  ] as const
  return oneOf(ways, next)?.() ?? path
}

/** What a client can put into the first line of a request. */
function printable(bytes: Buffer, otherwise: string): string {
  const text = bytes
    .toString('latin1')
    .replace(/[^!-~]/g, '')
    .replace(/[?#]/g, '')
  return text.startsWith('/') ? text : otherwise
}

function queryFor(next: Next): string {
  if (next(2) === 0) return ''
  const query = new URLSearchParams()
  for (let left = next(4); left > 0; left--) {
    const parameter = oneOf(parameters, next) ?? 'x'
    const isSelector = parameter.endsWith('Selector') && next(2) === 0
    query.append(parameter, isSelector ? randomSelector(next) : (oneOf(texts, next) ?? ''))
  }
  if (query.has('watch')) query.set('timeoutSeconds', '1')
  // Waits three seconds for a revision that is far away.
  if ((query.get('resourceVersion')?.length ?? 0) > 1) query.delete('resourceVersion')
  if (next(20) === 0)
    query.append('continue', Buffer.from(String(oneOf(texts, next)).repeat(next(50))).toString('base64url'))
  const text = query.toString()
  return `?${next(20) === 0 ? text.replaceAll('%', '%25').replaceAll('=', '&') : text}`
}

// ---- headers ----------------------------------------------------------------------------------------------------

function headersFor(type: string | undefined, next: Next): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  if (type !== undefined) headers['content-type'] = next(15) === 0 ? (oneOf(bodyTypes, next) ?? '') : type
  if (next(3) === 0) headers.accept = oneOf(accepts, next) ?? ''
  if (next(30) === 0) headers.accept = Array.from({ length: 200 }, () => oneOf(accepts, next)).join(',')
  if (next(20) === 0) headers['accept-encoding'] = oneOf(['gzip', 'br', 'gzip;q=0', '*', ',,'] as const, next)
  if (next(30) === 0) headers['user-agent'] = 'a'.repeat(next(3_000))
  if (next(30) === 0)
    headers['impersonate-user'] = oneOf(['admin', '', 'system:anonymous', '%'] as const, next)
  if (next(40) === 0) headers['audit-id'] = '-'.repeat(next(200))
  if (next(40) === 0) headers.authorization = oneOf(['Bearer', 'Bearer x', 'Basic eDp5', '='] as const, next)
  return headers
}

// ---- bodies -----------------------------------------------------------------------------------------------------

function contentFor(
  kind: AnyKind,
  method: string,
  next: Next,
): { readonly type: string; readonly body: Buffer } {
  const type = method === 'PATCH' ? oneOf(patchTypes, next) : bodyTypes[next(3) === 0 ? next(3) : 0]
  const document = method === 'DELETE' ? deleteOptions : documentFor(kind, type, next)
  const text = JSON.stringify(next(4) === 0 ? document : damaged(document, next))
  const bytes = Buffer.from(text, 'utf8')
  return { type: type ?? '', body: next(5) === 0 ? damagedBytes(bytes, next) : bytes }
}

const deleteOptions: Json = {
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  gracePeriodSeconds: 0,
  propagationPolicy: 'Background',
  preconditions: { uid: 'a', resourceVersion: '1' },
  dryRun: ['All'],
}

function documentFor(kind: AnyKind, type: string | undefined, next: Next): Json {
  // A sample is JSON.
  const sample = JSON.parse(JSON.stringify(sampleOf(kind))) as { readonly [key: string]: Json }
  if (type === 'application/json-patch+json') return operationsOn(sample, next)
  return sample
}

function operationsOn(sample: { readonly [key: string]: Json }, next: Next): Json {
  const places = placesIn(sample, '')
  const place = (): string => oneOf(places, next) ?? ''
  return Array.from({ length: 1 + next(5) }, () => ({
    op: oneOf(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x'] as const, next) ?? 'add',
    path:
      place() + (oneOf(['', '', '/-', '/0', '/__proto__', '/~1', '/~', '/constructor'] as const, next) ?? ''),
    from: place(),
    value: damaged(sample, next),
  }))
}

function placesIn(value: Json, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, `${path}/${key}`))]
}
