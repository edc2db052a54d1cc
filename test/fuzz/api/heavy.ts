/** Requests of up to 3 MiB that were made to take long: what they are made of. */
import { maxWeight } from '../../../src/codec/json.ts'
import type { ApiCall } from '../../support/api-client.ts'

export type Heavy = {
  readonly name: string
  readonly path: string
  readonly method: string
  readonly type?: string
  /** `fill` decides how much there is of what there is much of. */
  body(fill: Fill): string | Buffer
  /** What has to be there before. */
  readonly before?: readonly { readonly path: string; readonly call: ApiCall }[]
}

export const maxBytes = 3 * 1024 * 1024

/** A head, some units with commas between them, a tail. */
export type Fill = (head: string, unit: (index: number) => string, tail: string, most?: number) => string

/** As long as a body may be. */
export const byBytes: Fill = (head, unit, tail, most = maxBytes) =>
  filled({ head, unit, tail }, piece => piece.length, most - head.length - tail.length)

/** As heavy as a document may be. */
export const byWeight: Fill = (head, unit, tail, most = maxBytes) =>
  filled(
    { head, unit, tail },
    piece => Math.max(weight(piece), (piece.length * maxWeight) / most),
    maxWeight - weight(head),
  )

function filled(
  { head, unit, tail }: { readonly head: string; unit(index: number): string; readonly tail: string },
  sizeOf: (piece: string) => number,
  room: number,
): string {
  const pieces = [head]
  let size = 0
  for (let index = 0; ; index += 1) {
    const piece = (index === 0 ? '' : ',') + unit(index)
    size += sizeOf(piece)
    if (size > room) break
    pieces.push(piece)
  }
  return pieces.join('') + tail
}

/** No text in the bodies has these characters in it. */
function weight(text: string): number {
  const colons = text.split(':').length - 1
  return 2 * colons + text.split(/[,[{]/).length - 1
}

export const configMaps = '/api/v1/namespaces/default/configmaps'
export const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
export const services = '/api/v1/namespaces/default/services'
export const exports = '/apis/multicluster.x-k8s.io/v1alpha1/namespaces/default/serviceexports'
export const widgets = '/apis/test.example.com/v2/namespaces/default/widgets'
export const spaces = '/api/v1/spaces'
export const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles'

export const configMapHead = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy"},"data":{'
export const widgetHead =
  '{"apiVersion":"test.example.com/v2","kind":"Widget","metadata":{"name":"heavy"},"spec":{'
export const base36 = (i: number) => i.toString(36)

export const strict = '?fieldValidation=Strict'
export const json = 'application/json'
export const yaml = 'application/yaml'

export const post = (name: string, path: string, body: Heavy['body'], type = json): Heavy => ({
  name,
  method: 'POST',
  path,
  type,
  body,
})

/** To an object with its name in the path. */
const writeOf =
  (method: string, type: string) =>
  (name: string, path: string, body: Heavy['body'], before: NonNullable<Heavy['before']> = []): Heavy => ({
    name,
    method,
    path,
    type,
    body,
    before,
  })

export const jsonPatch = writeOf('PATCH', 'application/json-patch+json')
export const mergePatch = writeOf('PATCH', 'application/merge-patch+json')
export const strategic = writeOf('PATCH', 'application/strategic-merge-patch+json')
export const apply = writeOf('PATCH', 'application/apply-patch+yaml')

export const put = writeOf('PUT', json)

export const list = (length: number) => Array.from({ length }, (_, i) => i)

export function making(path: string, object: unknown): NonNullable<Heavy['before']> {
  return [{ path, call: { method: 'POST', headers: { 'content-type': json }, body: JSON.stringify(object) } }]
}

export const aConfigMap = (data: object = { a: 'b' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'patched' },
  data,
})
export const aWidget = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'test.example.com/v2',
  kind: 'Widget',
  metadata: { name: 'patched', ...metadata },
  spec,
})

export const manyKeys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [base36(i), '']))
