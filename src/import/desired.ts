import { exportsText } from '../api/exports-annotation.ts'
import type { ClusterSetService } from '../api/kinds/cluster-set-service.ts'
import {
  type ServiceImport,
  ServiceImportKind,
  type serviceImportConditions,
} from '../api/kinds/service-import.ts'
import { type Condition, type ObjectMeta, withCondition } from '../api/meta.ts'
import type { Verdict } from '../api/verdict.ts'
import { wellKnown } from '../api/well-known.ts'
import { resource } from '../cluster/cluster.ts'
import { type Family, familyOf } from '../ip/address.ts'

type ImportSpec = NonNullable<ServiceImport['spec']>
type ImportStatus = NonNullable<ServiceImport['status']>
type StringMap = Readonly<Record<string, string>>

const { apiVersion, kind } = resource(ServiceImportKind)

/** Metadata and spec of the import in this cluster, on top of what is there; the status stays as it is. */
export function desiredImport(
  service: ClusterSetService,
  localFamilies: readonly Family[],
  current: ServiceImport | undefined,
): ServiceImport {
  const { namespace, service: name } = service.spec
  return {
    ...(current ?? { apiVersion, kind }),
    metadata: metadataOf(service, current?.metadata ?? { namespace, name }),
    spec: specOf(service, localFamilies),
  }
}

function specOf({ spec }: ClusterSetService, localFamilies: readonly Family[]): ImportSpec {
  const usable = spec.ipFamilies.filter(family => localFamilies.includes(family))
  return {
    type: spec.type,
    ports: spec.ports,
    ips: spec.ips.filter(ip => usable.some(family => family === familyOf(ip))),
    // When nothing is usable the families of the service stay: they tell what would be needed.
    ipFamilies: usable.length > 0 ? usable : spec.ipFamilies,
    ...(spec.sessionAffinity === undefined ? {} : { sessionAffinity: spec.sessionAffinity }),
    ...(spec.sessionAffinityConfig === undefined
      ? {}
      : { sessionAffinityConfig: spec.sessionAffinityConfig }),
    ...(spec.internalTrafficPolicy === undefined
      ? {}
      : { internalTrafficPolicy: spec.internalTrafficPolicy }),
    ...(spec.trafficDistribution === undefined ? {} : { trafficDistribution: spec.trafficDistribution }),
  }
}

/** The keys that an import owes to its exports. */
type ExportedKeys = { readonly labels?: readonly string[]; readonly annotations?: readonly string[] }

/** Whether an agent made this import: what somebody else made is left alone unless it is exported. */
export function isOurs({ metadata }: ServiceImport): boolean {
  return metadata.annotations?.[wellKnown.exportedKeys] !== undefined
}

/** What comes from the exports of a ServiceImport and not from whoever else writes its metadata. */
export function exportedMapsOf({
  metadata,
}: ServiceImport): Required<Pick<ObjectMeta, 'labels' | 'annotations'>> {
  const { annotations, labels } = exportedKeysOf(metadata)
  return { labels: only(metadata.labels, labels), annotations: only(metadata.annotations, annotations) }
}

/** Exported pairs are set, those exported before and no more are removed, all others stay. */
function metadataOf({ spec, status }: ClusterSetService, current: ObjectMeta): ObjectMeta {
  const owned = exportedKeysOf(current)
  const labels = { ...without(current.labels, owned.labels), ...spec.labels }
  const keys: ExportedKeys = {
    ...(spec.labels === undefined ? {} : { labels: Object.keys(spec.labels) }),
    ...(spec.annotations === undefined ? {} : { annotations: Object.keys(spec.annotations) }),
  }
  const exports = exportsText(status.clusters)
  const annotations = {
    ...without(current.annotations, [...(owned.annotations ?? []), wellKnown.exports]),
    ...spec.annotations,
    [wellKnown.exportedKeys]: JSON.stringify(keys),
    ...(exports === undefined ? {} : { [wellKnown.exports]: exports }),
  }
  const { labels: _labels, ...rest } = current
  return { ...rest, ...(Object.keys(labels).length === 0 ? {} : { labels }), annotations }
}

function exportedKeysOf({ annotations }: ObjectMeta): ExportedKeys {
  const text = annotations?.[wellKnown.exportedKeys]
  if (text === undefined) return {}
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null) return {}
    return { labels: stringsOf(parsed, 'labels'), annotations: stringsOf(parsed, 'annotations') }
  } catch {
    // Somebody edited it. What was exported before is not known any more; it is written anew below.
    return {}
  }
}

function stringsOf(parsed: object, field: string): readonly string[] {
  const value: unknown = Reflect.get(parsed, field)
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}

function without(map: StringMap | undefined, keys: readonly string[] = []): StringMap {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !keys.includes(key)))
}

function only(map: StringMap | undefined, keys: readonly string[] = []): StringMap {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => keys.includes(key)))
}

const notExported = {
  type: 'Ready',
  status: 'Unknown',
  reason: 'Pending',
  message: 'no cluster exports this service: the import is not made by this controller, and left alone',
} as const satisfies Partial<Condition>

/**
 * The status of an import that somebody else made of a service that nobody exports. Undefined: whoever made it says himself
 * how it is doing.
 */
export function unexportedStatus(current: ServiceImport, time: string): ImportStatus | undefined {
  const conditions = current.status?.conditions ?? []
  const ready = conditions.find(({ type }) => type === notExported.type)
  if (ready !== undefined && ready.message !== notExported.message) return undefined
  const observed = { observedGeneration: current.metadata.generation ?? 0, lastTransitionTime: time }
  return { ...current.status, conditions: withCondition(conditions, { ...notExported, ...observed }) }
}

/** What this cluster has to do with a service. */
type Local = {
  readonly families: readonly Family[]
  /** Why it cannot be routed: its derived Service cannot be made. */
  readonly taken: string | undefined
  /** Why its addresses may lead somewhere else here. */
  readonly clash: string | undefined
  /** What users are to be told besides. */
  readonly note: string | undefined
}

/** The status of the import in this cluster, on top of what is there. */
export function desiredStatus(
  service: ClusterSetService,
  local: Local,
  current: ServiceImport,
  time: string,
): ImportStatus {
  const ready: Condition = {
    type: 'Ready',
    ...noted(readiness(service, local), local.note),
    observedGeneration: current.metadata.generation ?? 0,
    lastTransitionTime: time,
  }
  return {
    ...current.status,
    clusters: service.status.clusters.map(({ cluster }) => ({ cluster })),
    conditions: withCondition(current.status?.conditions ?? [], ready),
    endpointSliceObjects: 'Present',
  }
}

type Ready = Verdict<typeof serviceImportConditions, 'Ready'>

function noted(ready: Ready, note: string | undefined): Ready {
  if (note === undefined) return ready
  return { ...ready, message: [ready.message, note].filter(text => text !== '').join('; ') }
}

function readiness(
  { spec, status }: ClusterSetService,
  { clash, families: localFamilies, taken }: Local,
): Ready {
  const { problem } = status
  const usable = spec.ipFamilies.filter(family => localFamilies.includes(family))
  if (usable.length === 0) {
    const message = `this cluster supports ${localFamilies.join(' and ')}, the service ${spec.ipFamilies.join(' and ') || 'neither'}`
    return { status: 'False', reason: 'IPFamilyNotSupported', message }
  }
  if (taken !== undefined) return { status: 'False', reason: 'ServiceNameTaken', message: taken }
  const hasAddress = spec.ips.some(ip => usable.some(family => family === familyOf(ip)))
  if (spec.type === 'ClusterSetIP' && !hasAddress) {
    return {
      status: 'False',
      reason: problem?.reason ?? 'Pending',
      message: problem?.message ?? 'no ClusterSetIP yet',
    }
  }
  const message = [problem?.message, clash].filter(said => said !== undefined).join('; ')
  return { status: 'True', reason: 'Ready', message }
}
