import type { RequestInfo, ResourceVerb } from '../contract.ts'

const verbOfMethod: ReadonlyMap<string, ResourceVerb> = new Map([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize'])

/**
 * What a request asks for, with the rules of k8s.io/apiserver `RequestInfoFactory`: `/api/v1/…` is the core group, all
 * else is `/apis/<group>/<version>/…`; shorter paths are no resources. The deprecated `/watch/` paths are watches.
 */
export function toRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  return ofKnownPlace(method, path) ?? read(method, path, query)
}

type ResourceInfo = Extract<RequestInfo, { readonly isResource: true }>

function read(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = trimSlashes(path).split('/')
  const prefix = prefixLength(parts[0])
  if (prefix === 0 || parts.length <= prefix) {
    return { isResource: false, verb: method.toLowerCase(), path }
  }
  const group = prefix === 3 ? (parts[1] ?? '') : ''
  const version = parts[prefix - 1] ?? ''
  const byPath = parts[prefix] === 'watch' && parts.length > prefix + 1
  const target = targetOf(parts, byPath ? prefix + 1 : prefix)
  const { namespace, resource, subresource } = target
  const verb = byPath && method === 'GET' ? 'watch' : verbOf(method, target.name, query)
  const name = nameOf(verb, target.name, query)
  const place = { group, version, namespace, resource }
  if (!byPath) keepPlace(path, place, target)
  const info = infoOf(place, { verb, path, name, subresource })
  return verbsOfMany.has(verb) ? { ...info, ...selectorsOf(query) } : info
}

type Asked = Pick<ResourceInfo, 'verb' | 'path' | 'name' | 'subresource'>

function infoOf({ group, version, namespace, resource }: Place, asked: Asked): ResourceInfo {
  const { verb, path, name, subresource } = asked
  return { isResource: true, verb, path, group, version, namespace, resource, subresource, name }
}

/** What the path of a collection says. */
type Place = Pick<ResourceInfo, 'group' | 'version' | 'namespace' | 'resource'>

type Known = Place & { readonly collection: string }

/**
 * Paths of collections that were read before. Most requests are for items of a few of them, whose names then are the very
 * texts that everything below looks for.
 */
const places = new Map<string, Known>()
const maxPlaces = 1_000
const maxPlaceLength = 512
/** That of the last request: mostly it is the next one's, too, which is seen without a look into the map. */
let last: Known | undefined

/** What is created in a known collection, an item of one, or a subresource of an item. */
function ofKnownPlace(method: string, path: string): ResourceInfo | undefined {
  const place = placeOf(path)
  if (place === undefined) return undefined
  const verb = verbOfMethod.get(method) ?? ''
  const start = place.collection.length + 1
  if (path.length < start) {
    return method === 'POST' ? infoOf(place, { verb, path, name: '', subresource: '' }) : undefined
  }
  const slashAt = path.indexOf('/', start)
  const end = slashAt < 0 ? path.length : slashAt
  if (end === start || path.endsWith('/')) return undefined
  return infoOf(place, { verb, path, name: path.slice(start, end), subresource: path.slice(end + 1) })
}

function placeOf(path: string): Known | undefined {
  if (last !== undefined && isIn(last.collection, path)) return last
  const end = path.lastIndexOf('/')
  const found =
    places.get(path.slice(0, end)) ??
    places.get(path) ??
    places.get(path.slice(0, Math.max(0, path.lastIndexOf('/', end - 1))))
  last = found ?? last
  return found
}

function isIn(collection: string, path: string): boolean {
  if (!path.startsWith(collection)) return false
  return path.length === collection.length || path.charCodeAt(collection.length) === slash
}

/** Not of paths with a slash too many, nor where what is below may be something else than an item. */
function keepPlace(path: string, place: Place, { name, subresource }: Target): void {
  const { group, version, namespace, resource } = place
  if (resource === '' || resource === 'namespaces' || resource === 'watch') return
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const collection = namespace === '' ? `${root}/${resource}` : `${root}/namespaces/${namespace}/${resource}`
  if (places.has(collection)) return
  const rest = [name, subresource].filter(part => part !== '')
  if (path !== [collection, ...rest].join('/') || collection.length > maxPlaceLength) return
  if (places.size >= maxPlaces) places.clear()
  places.set(collection, {
    collection,
    group: interned(group),
    version: interned(version),
    namespace: interned(namespace),
    resource: interned(resource),
  })
}

/** The one text among all that are equal which is also in the code: it is found in maps without a look at its letters. */
function interned(text: string): string {
  return Object.keys({ [text]: true })[0] ?? text
}

const verbsOfMany: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])

function selectorsOf(query: URLSearchParams): {
  readonly labelSelector?: string
  readonly fieldSelector?: string
} {
  const labelSelector = query.get('labelSelector') ?? ''
  const fieldSelector = query.get('fieldSelector') ?? ''
  return {
    ...(labelSelector === '' ? {} : { labelSelector }),
    ...(fieldSelector === '' ? {} : { fieldSelector }),
  }
}

/** How many segments come before the resource. */
function prefixLength(root: string | undefined): number {
  if (root === 'api') return 2
  return root === 'apis' ? 3 : 0
}

function nameOf(verb: string, name: string, query: URLSearchParams): string {
  if (name !== '') return name
  return verb === 'list' || verb === 'watch' ? selectedName(query) : ''
}

type Target = { namespace: string; resource: string; subresource: string; name: string }

/**
 * Reads `namespaces/<ns>/<plural>/<name>/<subresource>` from a part on. A namespace itself is also in its own namespace, for
 * RBAC.
 */
function targetOf(parts: readonly string[], from: number): Target {
  const isInNamespace = parts[from] === 'namespaces' && parts.length > from + 1
  const isScoped =
    isInNamespace && parts.length > from + 2 && !namespaceSubresources.has(parts[from + 2] ?? '')
  const at = isScoped ? from + 2 : from
  return {
    namespace: isInNamespace ? (parts[from + 1] ?? '') : '',
    resource: parts[at] ?? '',
    name: parts[at + 1] ?? '',
    // Deeper paths belong to subresources that proxy; none is served, so the joined rest is never found.
    subresource: parts.length > at + 3 ? parts.slice(at + 2).join('/') : (parts[at + 2] ?? ''),
  }
}

function verbOf(method: string, name: string, query: URLSearchParams): ResourceVerb | '' {
  const verb = verbOfMethod.get(method) ?? ''
  if (name !== '') return verb
  if (verb === 'get') return isTrue(query.get('watch')) ? 'watch' : 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}

/** A boolean query parameter: absent, `0` and `false` in any case are false, all else is true, the empty string too. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

/** The X of a field selector that demands `metadata.name=X`: such a request is authorized as if it named X. */
function selectedName(query: URLSearchParams): string {
  const selector = query.get('fieldSelector')
  if (selector === null || selector === '') return ''
  for (const term of selector.split(/(?<!\\),/)) {
    const match = /^metadata\.name==?([^=].*)$/.exec(term)
    if (match?.[1] !== undefined) return pathSegment(match[1].replace(/\\([\\,=])/g, '$1'))
  }
  return ''
}

/** Empty unless the text could be one segment of a path, as no object has such a name. */
function pathSegment(name: string): string {
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name
}

function trimSlashes(path: string): string {
  let start = 0
  let end = path.length
  while (start < end && path.charCodeAt(start) === slash) start++
  while (end > start && path.charCodeAt(end - 1) === slash) end--
  return path.slice(start, end)
}

const slash = 0x2f
