/** Discovery documents, legacy and aggregated (`apidiscovery.k8s.io`), of a set of kinds. */
import { createHash } from 'node:crypto'
import type { AnyKind } from '../kind.ts'
import { groupVersion } from '../meta.ts'
import { byText } from '../order.ts'
import { ScaleKind } from '../scale.ts'

export type APIVersions = {
  readonly kind: 'APIVersions'
  readonly apiVersion: 'v1'
  readonly versions: readonly string[]
  readonly serverAddressByClientCIDRs: readonly {
    readonly clientCIDR: string
    readonly serverAddress: string
  }[]
}

type GroupVersionRef = { readonly groupVersion: string; readonly version: string }

export type APIGroup = {
  readonly kind?: 'APIGroup'
  readonly apiVersion?: 'v1'
  readonly name: string
  readonly versions: readonly GroupVersionRef[]
  readonly preferredVersion: GroupVersionRef
}

export type APIGroupList = {
  readonly kind: 'APIGroupList'
  readonly apiVersion: 'v1'
  readonly groups: readonly APIGroup[]
}

type APIResource = {
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  /** Where they differ from those of the list. */
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly storageVersionHash?: string
}

export type APIResourceList = {
  readonly kind: 'APIResourceList'
  readonly apiVersion: 'v1'
  readonly groupVersion: string
  readonly resources: readonly APIResource[]
}

type ResponseKind = { readonly group: string; readonly version: string; readonly kind: string }

type APIResourceDiscovery = {
  readonly resource: string
  readonly responseKind: ResponseKind
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singularResource: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly {
    readonly subresource: string
    readonly responseKind: ResponseKind
    readonly verbs: readonly string[]
  }[]
}

export type APIGroupDiscoveryList = {
  readonly kind: 'APIGroupDiscoveryList'
  readonly apiVersion: 'apidiscovery.k8s.io/v2' | 'apidiscovery.k8s.io/v2beta1'
  readonly metadata: Readonly<Record<string, never>>
  readonly items: readonly {
    readonly metadata: { readonly name?: string; readonly creationTimestamp: null }
    readonly versions: readonly {
      readonly version: string
      readonly resources: readonly APIResourceDiscovery[]
      readonly freshness: 'Current'
    }[]
  }[]
}

const storedVerbs: readonly string[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]
const verbsByStorage: Readonly<Record<AnyKind['storage'], readonly string[]>> = {
  stored: storedVerbs,
  review: ['create'],
  view: ['get', 'list', 'watch'],
}

/** What may be done with objects of a kind, sorted. */
export function verbsOf(kind: AnyKind): readonly string[] {
  const verbs = verbsByStorage[kind.storage]
  return kind.deletesCollection ? verbs : verbs.filter(verb => verb !== 'deletecollection')
}

export type Subresource = {
  readonly name: string
  readonly verbs: readonly string[]
  /** What it shows in place of the object. */
  readonly answers?: AnyKind
}

/** The subresources of a kind, sorted by name. */
export function subresourcesOf(kind: AnyKind): readonly Subresource[] {
  return [
    ...(kind.finalize === undefined ? [] : [{ name: 'finalize', verbs: ['update'] }]),
    ...(kind.scale === undefined
      ? []
      : [{ name: 'scale', verbs: ['get', 'patch', 'update'], answers: ScaleKind }]),
    ...(kind.status === undefined ? [] : [{ name: 'status', verbs: ['get', 'patch', 'update'] }]),
  ]
}

/** Base64 of the first 8 bytes of the SHA-256 of the stored group, version and kind, as kube-apiserver makes it. */
export function storageVersionHash(kind: AnyKind): string {
  const name = `${kind.group}/${kind.storageVersion}/${kind.kind}`
  return createHash('sha256').update(name).digest().subarray(0, 8).toString('base64')
}

/** Newest first: v1 before v1beta2 before v1beta1 before v1alpha1, all else behind by name. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)]
  for (let i = 0; i < left.length; i++) {
    const difference = (right[i] ?? 0) - (left[i] ?? 0)
    if (difference !== 0) return difference
  }
  return byText(a, b)
}

/** Stability, major and minor version: greater is preferred. */
function rank(version: string): readonly number[] {
  const parts = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  if (parts === null) return [0, 0, 0]
  const stability = parts[2] === undefined ? 3 : parts[2] === 'beta' ? 2 : 1
  return [stability, Number(parts[1]), Number(parts[3] ?? 0)]
}

/** The versions of a group that these kinds are served at, preferred first; empty when there is no such group. */
export function versionsOf(kinds: readonly AnyKind[], group: string): readonly string[] {
  const names = kinds.filter(k => k.group === group).flatMap(k => k.versions.map(v => v.name))
  return [...new Set(names)].sort(compareVersions)
}

/** Named groups, the core group not among them, sorted. */
export function groupsOf(kinds: readonly AnyKind[]): readonly string[] {
  return [...new Set(kinds.map(k => k.group))].filter(g => g !== '').toSorted(byText)
}

/** `/api` of a server that has the core group. `serverAddress` is `host:port`. */
export function apiVersions(serverAddress: string): APIVersions {
  return {
    kind: 'APIVersions',
    apiVersion: 'v1',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** `/apis`. */
export function apiGroupList(kinds: readonly AnyKind[]): APIGroupList {
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groupsOf(kinds).flatMap(group => bareGroup(kinds, group) ?? []),
  }
}

/** `/apis/{group}`; undefined when no kind is in the group. */
export function apiGroup(kinds: readonly AnyKind[], group: string): APIGroup | undefined {
  const bare = bareGroup(kinds, group)
  return bare && { kind: 'APIGroup', apiVersion: 'v1', ...bare }
}

function bareGroup(kinds: readonly AnyKind[], group: string): APIGroup | undefined {
  const versions = versionsOf(kinds, group).map(version => ({
    groupVersion: groupVersion(group, version),
    version,
  }))
  const [preferredVersion] = versions
  return preferredVersion && { name: group, versions, preferredVersion }
}

/** The kinds of a group that are served at a version, sorted by plural. */
export function servedAt(kinds: readonly AnyKind[], group: string, version: string): readonly AnyKind[] {
  return kinds
    .filter(k => k.group === group && k.versions.some(v => v.name === version))
    .toSorted((a, b) => byText(a.plural, b.plural))
}

/** `/apis/{group}/{version}` and `/api/v1`; undefined when nothing is served there. */
export function apiResourceList(
  kinds: readonly AnyKind[],
  group: string,
  version: string,
): APIResourceList | undefined {
  const served = servedAt(kinds, group, version)
  if (served.length === 0) return undefined
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersion(group, version),
    resources: served.flatMap(resourcesOf),
  }
}

function resourcesOf(kind: AnyKind): readonly APIResource[] {
  const namespaced = kind.scope === 'Namespaced'
  return [
    {
      name: kind.plural,
      singularName: kind.singular,
      namespaced,
      kind: kind.kind,
      verbs: verbsOf(kind),
      ...namesOf(kind),
      ...(kind.storage === 'stored' ? { storageVersionHash: storageVersionHash(kind) } : {}),
    },
    ...subresourcesOf(kind).map(sub => ({
      name: `${kind.plural}/${sub.name}`,
      singularName: '',
      namespaced,
      ...(sub.answers === undefined ? {} : versionOf(sub.answers)),
      kind: (sub.answers ?? kind).kind,
      verbs: sub.verbs,
    })),
  ]
}

function versionOf({ group, versions }: AnyKind): { readonly group: string; readonly version: string } {
  return { group, version: versions[0].name }
}

function namesOf(kind: AnyKind): Pick<APIResource, 'shortNames' | 'categories'> {
  return {
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
  }
}

/** The aggregated form: `core` for `/api`, `groups` for `/apis`. */
export function apiGroupDiscoveryList(
  kinds: readonly AnyKind[],
  version: 'v2' | 'v2beta1',
  which: 'core' | 'groups',
): APIGroupDiscoveryList {
  const groups = which === 'groups' ? groupsOf(kinds) : kinds.some(k => k.group === '') ? [''] : []
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(group => ({
      metadata: { ...(group === '' ? {} : { name: group }), creationTimestamp: null },
      versions: versionsOf(kinds, group).map(v => ({
        version: v,
        resources: servedAt(kinds, group, v).map(kind => resourceDiscovery(kind, v)),
        freshness: 'Current',
      })),
    })),
  }
}

function resourceDiscovery(kind: AnyKind, version: string): APIResourceDiscovery {
  const responseKind = { group: kind.group, version, kind: kind.kind }
  const subresources = subresourcesOf(kind).map(sub => ({
    subresource: sub.name,
    responseKind:
      sub.answers === undefined ? responseKind : { ...versionOf(sub.answers), kind: sub.answers.kind },
    verbs: sub.verbs,
  }))
  return {
    resource: kind.plural,
    responseKind,
    scope: kind.scope,
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    ...namesOf(kind),
    ...(subresources.length === 0 ? {} : { subresources }),
  }
}
