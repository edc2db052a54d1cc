// Who may do what, asked of a running server with real requests: whatever is not answered with 403 counts as allowed.
import { type AnyKind, apiVersionOf } from '../../src/api/kind.ts'
import type { ApiCall, ApiClient } from './api-client.ts'

const json = { 'content-type': 'application/json' }
const changing = (method: string, type = 'application/json'): ApiCall => ({
  method,
  headers: { ...json, 'content-type': type },
  body: '{}',
})

type Ask = { readonly verb: string; readonly query: string; readonly call: ApiCall }

/** Nothing is changed by any of them, whoever may do it. */
const ofCollections: readonly Ask[] = [
  { verb: 'list', query: 'limit=1', call: {} },
  { verb: 'watch', query: 'watch=1&timeoutSeconds=1', call: {} },
  { verb: 'create', query: 'dryRun=All', call: changing('POST') },
  { verb: 'deletecollection', query: 'dryRun=All', call: { method: 'DELETE' } },
]
const ofObjects: readonly Ask[] = [
  { verb: 'get', query: '', call: {} },
  { verb: 'update', query: 'dryRun=All', call: changing('PUT') },
  { verb: 'patch', query: 'dryRun=All', call: changing('PATCH', 'application/merge-patch+json') },
  { verb: 'delete', query: 'dryRun=All', call: { method: 'DELETE' } },
]

/** Where something is asked: in a namespace or in all, of an object by its name or of the collection. */
export type Place = { readonly namespace?: string; readonly name?: string }

const subresourcesOf = (kind: AnyKind): readonly string[] => [
  ...(kind.status === undefined ? [] : ['status']),
  ...(kind.scale === undefined ? [] : ['scale']),
  ...(kind.finalize === undefined ? [] : ['finalize']),
  // What Kubernetes has and we do not may not be a way in.
  'approval',
  'token',
]

/** `plural.group`, as kubectl takes it. */
export const titleOf = ({ plural, group }: AnyKind): string => (group === '' ? plural : `${plural}.${group}`)

/**
 * What a client may do with a kind at these places, as `get,list exportedservices in member-east`: a line for each place
 * and subresource, none where it may do nothing. It is asked at every version that is served; one at which a client may do
 * something else than at the first has lines of its own.
 */
export async function allowed(
  client: ApiClient,
  kind: AnyKind,
  places: readonly Place[],
): Promise<readonly string[]> {
  const versions = kind.versions.map(({ name }) => name)
  const [first = [], ...others] = await Promise.all(
    versions.map(version => allowedAt(client, { kind, version }, places)),
  )
  const differing = others.flatMap((lines, at) =>
    lines.join() === first.join() ? [] : [`at ${versions[at + 1]}:`, ...lines],
  )
  return [...first, ...differing]
}

type Served = { readonly kind: AnyKind; readonly version: string }

async function allowedAt(
  client: ApiClient,
  served: Served,
  places: readonly Place[],
): Promise<readonly string[]> {
  const subresources = subresourcesOf(served.kind)
  const lines = await Promise.all(
    places.flatMap(place => [
      lineOf(client, served, place, ''),
      ...(place.name === undefined ? [] : subresources.map(sub => lineOf(client, served, place, sub))),
    ]),
  )
  return lines.flat()
}

async function lineOf(
  client: ApiClient,
  served: Served,
  place: Place,
  subresource: string,
): Promise<readonly string[]> {
  const asks = place.name === undefined ? ofCollections : ofObjects
  const verbs = await Promise.all(
    asks.map(async ask => ((await mayDo(client, pathOf(served, place, subresource), ask)) ? [ask.verb] : [])),
  )
  const done = verbs.flat()
  if (done.length === 0) return []
  const what = subresource === '' ? '' : ` /${subresource}`
  const named = place.name === undefined ? '' : ` ${place.name}`
  const where = place.namespace === undefined ? '' : ` in ${place.namespace}`
  return [`${done.join(',')}${what}${named}${where}`]
}

function pathOf({ kind, version }: Served, { namespace, name }: Place, subresource: string): string {
  const root = `${kind.group === '' ? '/api' : '/apis'}/${apiVersionOf(kind, version)}`
  const within = namespace === undefined ? '' : `/namespaces/${namespace}`
  return `${root}${within}/${kind.plural}${name === undefined ? '' : `/${name}`}${subresource === '' ? '' : `/${subresource}`}`
}

async function mayDo(client: ApiClient, path: string, { query, call }: Ask): Promise<boolean> {
  const answer = await client.open(`${path}?${query}`, call)
  if (answer.status === 401 || answer.status >= 500)
    throw new Error(`${call.method ?? 'GET'} ${path}: ${answer.status}`)
  answer.cancel()
  return answer.status !== 403
}
