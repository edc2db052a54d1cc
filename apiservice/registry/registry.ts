import type { AnyKind, KindVersion } from '../../src/api/kind.ts'
import { apiVersionOf, resourceOf } from '../../src/api/kind.ts'
import {
  badRequest,
  methodNotAllowed,
  noSuchPath,
  notFound,
  qualified,
  type StatusError,
  unsupportedVerb,
} from '../../src/kernel/errors.ts'
import { shown } from '../../src/kernel/field-error.ts'
import { Pace } from '../../src/kernel/turn.ts'
import { unlessFailed } from '../../src/kernel/when-settled.ts'
import type { Handler, Reply, RequestInfo, ResourceVerb, View } from '../contract.ts'
import { create } from './create.ts'
import { WrittenObjects } from './current.ts'
import { remove } from './delete.ts'
import { removeCollection } from './delete-collection.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { type Call, isBuiltIn, type RegistryParts, type Resource, type Subresource } from './parts.ts'
import { patch } from './patch.ts'
import { createReview } from './review.ts'
import { getScale, patchScale, updateScale } from './scale.ts'
import { update } from './update.ts'
import { watch } from './watch.ts'
import { lostRaces } from './write.ts'

type ResourceInfo = Extract<RequestInfo, { readonly isResource: true }>

type Answer = (call: Call, signal: AbortSignal) => Reply | Promise<Reply>

type Verbs = ReadonlyMap<ResourceVerb, Answer>

/** Answers every request on a resource. Throws at once when a kind lacks its review or its view. */
export function makeRegistry(parts: RegistryParts): Handler {
  const resources = Map.groupBy(parts.kinds.flatMap(resourcesOf), ({ kind }) => kind.plural)
  const verbs = new Map(parts.kinds.map(kind => [kind, verbsOf(kind, parts)]))
  const written = new WrittenObjects()
  // So that it can be asked for before the first race is lost.
  parts.metrics.counter(lostRaces)
  return (request, signal) => {
    const { info } = request
    if (!info.isResource) throw noSuchPath()
    const resource = resources.get(info.resource)?.find(each => isOf(each, info))
    if (resource === undefined || !isInScope(resource.kind, info)) throw noSuchPath()
    const subresource = subresourceOf(resource, info)
    const answer = verbs
      .get(resource.kind)
      ?.get(subresource)
      ?.get(verbOf(info, resource, subresource))
    if (answer === undefined) throw refusal(resource, info)
    checkName(info.name)
    if (resource.deprecated !== undefined) request.warn(resource.deprecated)
    const { namespace, name } = addressIn(resource.kind, info)
    const pace = new Pace(parts.clock)
    return answered(answer, { parts, resource, request, pace, written, subresource, namespace, name }, signal)
  }
}

function resourcesOf(kind: AnyKind): readonly Resource[] {
  const ref = resourceOf(kind)
  return kind.versions.map((version: KindVersion) => ({
    kind,
    served: { kind, version: version.name },
    apiVersion: apiVersionOf(kind, version.name),
    qualified: qualified(ref),
    ref,
    kindRef: { group: kind.group, kind: kind.kind },
    deprecated: version.deprecated,
  }))
}

function isOf({ kind, served }: Resource, { group, version }: ResourceInfo): boolean {
  return kind.group === group && served.version === version
}

function verbsOf(kind: AnyKind, parts: RegistryParts): ReadonlyMap<Subresource, Verbs> {
  const name = qualified(resourceOf(kind))
  switch (kind.storage) {
    case 'stored':
      return storedVerbs(kind)
    case 'view':
      return new Map([['', readVerbs(demand(parts.views, name))]])
    case 'review': {
      const review = demand(parts.reviews, name)
      return new Map([['', new Map([['create', (call, signal) => createReview(call, review, signal)]])]])
    }
  }
}

function demand<T>(parts: ReadonlyMap<string, T>, name: string): T {
  const part = parts.get(name)
  if (part === undefined) throw new Error(`registry: nothing answers ${name}`)
  return part
}

function readVerbs(view: View | undefined): Verbs {
  return new Map<ResourceVerb, Answer>([
    ['get', (call, signal) => get(call, view, signal)],
    ['list', (call, signal) => list(call, view, signal)],
    ['watch', call => watch(call, view)],
  ])
}

const writeVerbs: Verbs = new Map([
  ['create', create],
  ['update', update],
  ['patch', patch],
  ['delete', remove],
])
const statusVerbs: Verbs = new Map<ResourceVerb, Answer>([
  ['get', (call, signal) => get(call, undefined, signal)],
  ['update', update],
  ['patch', patch],
])
const scaleVerbs: Verbs = new Map([
  ['get', getScale],
  ['update', updateScale],
  ['patch', patchScale],
])
const finalizeVerbs: Verbs = new Map([['update', update]])

function collectionVerbs({ deletesCollection }: AnyKind): Verbs {
  return new Map(deletesCollection ? [['deletecollection', removeCollection]] : [])
}

function storedVerbs(kind: AnyKind): ReadonlyMap<Subresource, Verbs> {
  const verbs = new Map<Subresource, Verbs>([
    ['', new Map([...readVerbs(undefined), ...writeVerbs, ...collectionVerbs(kind)])],
  ])
  if (kind.status !== undefined) verbs.set('status', statusVerbs)
  if (kind.scale !== undefined) verbs.set('scale', scaleVerbs)
  if (kind.finalize !== undefined) verbs.set('finalize', finalizeVerbs)
  return verbs
}

function subresourceOf({ kind, ref }: Resource, { subresource, name }: ResourceInfo): Subresource {
  switch (subresource) {
    case '':
      return ''
    case 'status':
      if (kind.status !== undefined) return subresource
      break
    case 'scale':
      if (kind.scale !== undefined) return subresource
      break
    case 'finalize':
      if (kind.finalize !== undefined) return subresource
      break
  }
  throw isBuiltIn(kind) ? noSuchPath() : notFound(ref, name)
}

/** What is said of a verb that a resource does not have: of reviews there are no items. */
function refusal({ kind, ref }: Resource, { verb, name }: ResourceInfo): StatusError {
  if (!isBuiltIn(kind)) return unsupportedVerb(ref, verb)
  return kind.storage === 'review' && name !== '' ? noSuchPath() : methodNotAllowed()
}

/** Throws 400 for what could not be one segment of a path in the store of a kube-apiserver. */
function checkName(name: string): void {
  const why =
    name === '.' || name === '..' ? `may not be '${name}'` : name.includes('%') ? "may not contain '%'" : ''
  if (why !== '') throw badRequest(`Name parameter invalid: ${shown(name)}: ${why}`)
}

/** Throws 405 for methods that no verb answers to, and for those that are for items on a collection or the reverse. */
function verbOf(
  { verb, name, namespace }: ResourceInfo,
  { kind }: Resource,
  subresource: Subresource,
): ResourceVerb {
  const isOfItem = verb === 'get' || verb === 'update' || verb === 'patch' || verb === 'delete'
  const isMisplaced = isOfItem ? name === '' : verb === 'create' && name !== '' && subresource === ''
  if (verb === '' || isMisplaced) throw methodNotAllowed()
  const isAcrossNamespaces = kind.scope === 'Namespaced' && namespace === ''
  if (!isAcrossNamespaces) return verb
  if (isOfItem) throw noSuchPath()
  if (verb !== 'list' && verb !== 'watch') throw methodNotAllowed()
  return verb
}

/** Cluster-scoped objects are not found under a namespace, other than a kind whose own path begins like one. */
function isInScope(kind: AnyKind, info: ResourceInfo): boolean {
  if (kind.scope === 'Namespaced' || info.namespace === '') return true
  const item = [info.resource, info.name, info.subresource].filter(part => part !== '').join('/')
  const path = info.path.replace(/(?<!\/)\/+$/, '')
  return path.endsWith(`/${info.version}/${item}`) || path.endsWith(`/${info.version}/watch/${item}`)
}

function addressIn(kind: AnyKind, info: ResourceInfo): { readonly namespace: string; readonly name: string } {
  return { namespace: kind.scope === 'Namespaced' ? info.namespace : '', name: info.name }
}

/** What is stored is bounded in depth; what is sent may still be more than merging it can walk. */
function answered(answer: Answer, call: Call, signal: AbortSignal): Reply | Promise<Reply> {
  return unlessFailed(
    () => answer(call, signal),
    thrown => {
      if (!(thrown instanceof RangeError && /call stack/.test(thrown.message))) throw thrown
      throw badRequest('the object is nested too deeply')
    },
  )
}
