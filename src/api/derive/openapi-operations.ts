/** The operations of kinds, as both versions of OpenAPI documents describe them. */
import type { AnyKind } from '../kind.ts'
import { groupVersion } from '../meta.ts'
import { type Subresource, servedAt, subresourcesOf } from './discovery.ts'
import { definitionName, type GroupVersionKind, metaName } from './openapi-definitions.ts'
import {
  deleteParameters,
  forceParameter,
  listParameters,
  ofWatches,
  type Parameter,
  pretty,
  writeParameters,
} from './openapi-parameters.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export type Operation = {
  readonly path: string
  readonly method: Method
  /** `x-kubernetes-action`. */
  readonly action: 'get' | 'list' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection'
  readonly id: string
  readonly tag: string
  readonly description: string
  readonly gvk: GroupVersionKind
  /** In the query. */
  readonly parameters: readonly Parameter[]
  readonly body: { readonly definition: string; readonly mediaTypes: readonly string[] } | undefined
  /** Media types of answers. */
  readonly produces: readonly string[]
  readonly codes: readonly number[]
  readonly response: string
}

/** Media types that objects are sent and answered in. */
const objectMediaTypes: readonly string[] = ['application/json', 'application/yaml']
const listMediaTypes: readonly string[] = [...objectMediaTypes, 'application/json;stream=watch']

const plainPatchMediaTypes: readonly string[] = [
  'application/json-patch+json',
  'application/merge-patch+json',
]

/** The patches that a kind takes. */
function patchMediaTypesOf(kind: AnyKind): readonly string[] {
  return [
    ...plainPatchMediaTypes,
    ...(kind.strategicMergePatch ? ['application/strategic-merge-patch+json'] : []),
    'application/apply-patch+yaml',
  ]
}

/** All operations on kinds of a group at a version, in the order of their paths. */
export function operationsAt(
  kinds: readonly AnyKind[],
  group: string,
  version: string,
): readonly Operation[] {
  return servedAt(kinds, group, version).flatMap(kind => operationsOf(kind, version))
}

/** The places of a kind: paths begin without a slash at the end, and spell parameters as kubectl looks for them. */
type Place = {
  readonly kind: AnyKind
  readonly version: string
  readonly collection: string
  readonly item: string
  readonly base: string
}

function operationsOf(kind: AnyKind, version: string): readonly Operation[] {
  const base = kind.group === '' ? `/api/${version}` : `/apis/${groupVersion(kind.group, version)}`
  const collection =
    kind.scope === 'Cluster' ? `${base}/${kind.plural}` : `${base}/namespaces/{namespace}/${kind.plural}`
  const place: Place = { kind, version, base, collection, item: `${collection}/{name}` }
  switch (kind.storage) {
    case 'review':
      return [create(place)]
    case 'view':
      return [list(place), read(place), ...listEverywhere(place)]
    case 'stored':
      return [
        list(place),
        create(place),
        ...(kind.deletesCollection ? [deleteCollection(place)] : []),
        read(place),
        replace(place),
        patch(place),
        remove(place),
        ...subresourcesOf(kind).flatMap(sub => subresourceOperations(place, sub)),
        ...listEverywhere(place),
      ]
  }
}

type Shape = Pick<Operation, 'path' | 'method' | 'action' | 'parameters' | 'description'> &
  Partial<Pick<Operation, 'body' | 'codes' | 'response'>> & {
    readonly verb: string
    readonly suffix?: string
  }

function operation({ kind, version }: Place, shape: Shape): Operation {
  const { verb, suffix = '', ...rest } = shape
  const group = kind.group === '' ? 'core' : (kind.group.split('.')[0] ?? '')
  const scope = kind.scope === 'Namespaced' && shape.path.includes('{namespace}') ? 'Namespaced' : ''
  return {
    body: undefined,
    produces: shape.action === 'list' ? listMediaTypes : objectMediaTypes,
    codes: [200],
    response: definitionName(kind, version),
    id: `${verb}${upper(group)}${upper(version)}${scope}${kind.kind}${suffix}`,
    tag: `${group}_${version}`,
    gvk: { group: kind.group, kind: kind.kind, version },
    ...rest,
  }
}

function upper(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function objectBody({ kind, version }: Place): Operation['body'] {
  return { definition: definitionName(kind, version), mediaTypes: objectMediaTypes }
}

const deleteBody: Operation['body'] = { definition: metaName('DeleteOptions'), mediaTypes: objectMediaTypes }

const answerPatchBody: Operation['body'] = {
  definition: metaName('Patch'),
  mediaTypes: plainPatchMediaTypes,
}

function list(place: Place): Operation {
  const { kind, version } = place
  return operation(place, {
    path: place.collection,
    method: 'get',
    action: 'list',
    verb: 'list',
    description: `List or watch ${kind.plural}.`,
    parameters: listParameters,
    response: `${definitionName(kind, version)}List`,
  })
}

function listEverywhere(place: Place): readonly Operation[] {
  if (place.kind.scope === 'Cluster') return []
  const everywhere = list({ ...place, collection: `${place.base}/${place.kind.plural}` })
  return [{ ...everywhere, id: `${everywhere.id}ForAllNamespaces` }]
}

function create(place: Place): Operation {
  return operation(place, {
    path: place.collection,
    method: 'post',
    action: 'post',
    verb: 'create',
    description: `Create a ${place.kind.kind}.`,
    parameters: writeParameters,
    body: objectBody(place),
    codes: [200, 201, 202],
  })
}

function deleteCollection(place: Place): Operation {
  return operation(place, {
    path: place.collection,
    method: 'delete',
    action: 'deletecollection',
    verb: 'deleteCollection',
    description: `Delete ${place.kind.plural}.`,
    parameters: [...deleteParameters, ...listParameters.filter(p => p !== pretty && !ofWatches.has(p.name))],
    body: deleteBody,
    response: metaName('Status'),
  })
}

function read(place: Place, at = place.item, suffix = ''): Operation {
  return operation(place, {
    path: at,
    method: 'get',
    action: 'get',
    verb: 'read',
    suffix,
    description: `Read the ${place.kind.kind}.`,
    parameters: [pretty],
  })
}

function replace(place: Place, at = place.item, suffix = ''): Operation {
  return operation(place, {
    path: at,
    method: 'put',
    action: 'put',
    verb: 'replace',
    suffix,
    description: `Replace the ${place.kind.kind}.`,
    parameters: writeParameters,
    body: objectBody(place),
    codes: [200, 201],
  })
}

function patch(place: Place, at = place.item, suffix = ''): Operation {
  return operation(place, {
    path: at,
    method: 'patch',
    action: 'patch',
    verb: 'patch',
    suffix,
    description: `Change a part of the ${place.kind.kind}.`,
    parameters: [...writeParameters, forceParameter],
    body: { definition: metaName('Patch'), mediaTypes: patchMediaTypesOf(place.kind) },
    codes: [200, 201],
  })
}

function remove(place: Place): Operation {
  return operation(place, {
    path: place.item,
    method: 'delete',
    action: 'delete',
    verb: 'delete',
    description: `Delete the ${place.kind.kind}.`,
    parameters: deleteParameters,
    body: deleteBody,
    codes: [200, 202],
    response: metaName('Status'),
  })
}

function subresourceOperations(place: Place, sub: Subresource): readonly Operation[] {
  const { name, verbs, answers } = sub
  const at = `${place.item}/${name}`
  const suffix = upper(name)
  const operations = [
    ...(verbs.includes('get') ? [read(place, at, suffix)] : []),
    ...(verbs.includes('update') ? [replace(place, at, suffix)] : []),
    ...(verbs.includes('patch') ? [patch(place, at, suffix)] : []),
  ]
  return answers === undefined ? operations : operations.map(one => answeredAs(answers, one))
}

/** The operation on what a subresource shows in place of the object. It is nothing that could be applied. */
function answeredAs(kind: AnyKind, operation: Operation): Operation {
  const [{ name: version }] = kind.versions
  const response = definitionName(kind, version)
  const gvk = { group: kind.group, kind: kind.kind, version }
  const body = { put: { definition: response, mediaTypes: objectMediaTypes }, patch: answerPatchBody }
  const { method } = operation
  return {
    ...operation,
    gvk,
    response,
    body: method === 'put' || method === 'patch' ? body[method] : undefined,
  }
}

/** Operations by their paths, in the order in which paths first appear. */
export function byPath(operations: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> {
  return Map.groupBy(operations, o => o.path)
}

/** The definitions that operations take and answer. */
export function definitionsOf(operations: readonly Operation[]): readonly string[] {
  return operations.flatMap(o => [o.response, ...(o.body === undefined ? [] : [o.body.definition])])
}
