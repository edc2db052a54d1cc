/** What a server serves, from aggregated discovery or, where a server does not know it, from the older documents. */
import { groupVersion } from '../api/meta.ts'
import { isReason } from '../kernel/errors.ts'
import type { DiscoveredResource } from './cluster.ts'
import { isJsonObject } from './json.ts'

/** Gets a JSON document; throws as `Cluster` does. */
export type GetDocument = (path: string, accept: string) => Promise<unknown>

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'
const plain = 'application/json'

type Json = Readonly<Record<string, unknown>>

export async function discoverResources(get: GetDocument): Promise<readonly DiscoveredResource[]> {
  const [core, groups] = await Promise.all([
    get('/api', aggregated).catch((thrown: unknown) => {
      // An aggregated API server serves no core group.
      if (isReason(thrown, 'NotFound')) return { kind: 'APIVersions', versions: [] }
      throw thrown
    }),
    get('/apis', aggregated),
  ])
  const parts = await Promise.all([coreResources(core, get), groupResources(groups, get)])
  return parts.flat()
}

async function coreResources(document: unknown, get: GetDocument): Promise<readonly DiscoveredResource[]> {
  if (!isJsonObject(document)) return []
  if (document.kind === 'APIGroupDiscoveryList') return aggregatedResources(document)
  if (!strings(document.versions).includes('v1')) return []
  return listedResources(await get('/api/v1', plain), '', 'v1')
}

async function groupResources(document: unknown, get: GetDocument): Promise<readonly DiscoveredResource[]> {
  if (!isJsonObject(document)) return []
  if (document.kind === 'APIGroupDiscoveryList') return aggregatedResources(document)
  const preferred = objects(document.groups).map(group => ({
    name: text(group.name),
    version: isJsonObject(group.preferredVersion) ? text(group.preferredVersion.version) : '',
  }))
  const lists = await Promise.all(
    preferred.map(async ({ name, version }) =>
      listedResources(await get(`/apis/${name}/${version}`, plain), name, version),
    ),
  )
  return lists.flat()
}

/** Each resource at the first version that has it: versions come in order of preference. */
function aggregatedResources(document: Json): readonly DiscoveredResource[] {
  return objects(document.items).flatMap(item => {
    const group = isJsonObject(item.metadata) ? text(item.metadata.name) : ''
    const found = new Map<string, DiscoveredResource>()
    for (const resource of objects(item.versions).flatMap(version => versionResources(group, version))) {
      if (!found.has(resource.plural)) found.set(resource.plural, resource)
    }
    return [...found.values()]
  })
}

function versionResources(group: string, version: Json): readonly DiscoveredResource[] {
  return objects(version.resources).map(entry => {
    const kind = isJsonObject(entry.responseKind) ? text(entry.responseKind.kind) : ''
    const namespaced = entry.scope === 'Namespaced'
    const names = { group, version: text(version.version), kind, plural: text(entry.resource), namespaced }
    return discovered(names, entry)
  })
}

function listedResources(document: unknown, group: string, version: string): readonly DiscoveredResource[] {
  if (!isJsonObject(document)) return []
  return objects(document.resources)
    .filter(entry => !text(entry.name).includes('/'))
    .map(entry => {
      const namespaced = entry.namespaced === true
      return discovered(
        { group, version, kind: text(entry.kind), plural: text(entry.name), namespaced },
        entry,
      )
    })
}

function discovered(
  names: Omit<DiscoveredResource, 'apiVersion' | 'verbs'>,
  entry: Json,
): DiscoveredResource {
  return { ...names, apiVersion: groupVersion(names.group, names.version), verbs: strings(entry.verbs) }
}

function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
