import type { ApiRequest, RequestInfo } from '../../apiservice/contract.ts'

export type ApiRequestOptions = Partial<Omit<ApiRequest, 'headers' | 'body' | 'warn' | 'info'>> & {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly info?: Partial<RequestInfo>
  readonly body?: string
  readonly warnings?: string[]
}

/** A request as the http stage makes it: `GET /version` by nobody unless told otherwise. */
export function anApiRequest(options: ApiRequestOptions = {}): ApiRequest {
  const path = options.path ?? '/version'
  const headers = Object.entries(options.headers ?? {}).map(([name, value]): [string, readonly string[]] => [
    name.toLowerCase(),
    [value].flat(),
  ])
  return {
    method: 'GET',
    query: new URLSearchParams(),
    notes: { auditId: 'audit-1', target: options.path ?? '/version', giveUp: () => undefined },
    peer: { address: '127.0.0.1', certificates: [] },
    user: { name: 'system:anonymous', groups: ['system:unauthenticated'], extra: {} },
    ...options,
    path,
    info: { isResource: false, verb: 'get', path, ...options.info } as RequestInfo,
    headers: new Map(headers),
    body: () => Promise.resolve(Buffer.from(options.body ?? '')),
    warn: text => options.warnings?.push(text),
  }
}

/** What a request asks for of a resource: lists `pods` in `default` unless told otherwise. */
export function aResourceInfo(
  options: Partial<Extract<RequestInfo, { isResource: true }>> = {},
): Extract<RequestInfo, { isResource: true }> {
  return {
    isResource: true,
    verb: 'list',
    path: '/api/v1/namespaces/default/pods',
    group: '',
    version: 'v1',
    namespace: 'default',
    resource: 'pods',
    subresource: '',
    name: '',
    ...options,
  }
}
