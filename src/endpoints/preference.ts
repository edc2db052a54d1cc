/** The order in which an importing cluster uses the endpoints of a service: rings, of which the nearest that serves is used. */

import type { EndpointSlice } from '../api/kinds/endpoint-slice.ts'
import { labelValueErrors } from '../api/names.ts'
import { wellKnown } from '../api/well-known.ts'

type Ring =
  | { readonly type: 'cluster' }
  | { readonly type: 'region'; readonly region: string }
  | { readonly type: 'any' }

export type Preference = {
  /** Nearest first; what is in none of them is not imported. Undefined: there is no preference. */
  readonly rings: readonly Ring[] | undefined
  /** What of the annotation cannot be read. */
  readonly problem: string | undefined
}

export type Annotated =
  | { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }
  | undefined

const regionPrefix = 'region='
const maxRings = 10
const none: Preference = { rings: undefined, problem: undefined }

/** That of the import, or else of its namespace. */
export function preferenceOf(serviceImport: Annotated, namespace: Annotated): Preference {
  const own = serviceImport?.metadata.annotations?.[wellKnown.prefer]
  if (own !== undefined) return read(own, '')
  const ofAll = namespace?.metadata.annotations?.[wellKnown.prefer]
  return ofAll === undefined ? none : read(ofAll, 'of the Namespace, ')
}

function read(text: string, where: string): Preference {
  const parts = text.split(',').map(part => part.trim())
  const rings = parts.slice(0, maxRings).map(ringOf)
  const good = rings.filter(ring => ring !== undefined)
  const field = `${where}metadata.annotations[${wellKnown.prefer}]`
  const isRead = good.length === parts.length
  const problem = `${field}: must be at most ${maxRings} of cluster, region=<name> and any, with commas between them`
  return { rings: good.length === 0 ? undefined : good, problem: isRead ? undefined : problem }
}

function ringOf(text: string): Ring | undefined {
  if (text === 'cluster' || text === 'any') return { type: text }
  const region = text.startsWith(regionPrefix) ? text.slice(regionPrefix.length) : ''
  return region === '' || labelValueErrors(region).length > 0 ? undefined : { type: 'region', region }
}

export type Place = { readonly isOwn: boolean; readonly region: string | undefined }

type Conditions = NonNullable<EndpointSlice['endpoints'][number]['conditions']>

/** Undefined: outside of all. A cluster's own endpoints are never outside. */
export function distanceOf(rings: readonly Ring[], place: Place): number | undefined {
  const found = rings.findIndex(ring => isIn(ring, place))
  if (found === -1) return place.isOwn ? 0 : undefined
  return found
}

function isIn(ring: Ring, { isOwn, region }: Place): boolean {
  if (ring.type === 'region') return ring.region === region
  return ring.type === 'any' || isOwn
}

/** An imported slice and the ring that it is in. */
export type Candidate = { readonly slice: EndpointSlice; readonly distance: number }

/** Whether for everything that a slice serves there are ready endpoints of its family nearer by. */
export function isStandby({ slice, distance }: Candidate, all: readonly Candidate[]): boolean {
  const nearer = all.filter(
    other =>
      other.distance < distance &&
      other.slice.addressType === slice.addressType &&
      other.slice.endpoints.some(({ conditions }) => conditions?.ready !== false),
  )
  if (nearer.length === 0) return false
  return portsOf(slice).every(port => nearer.some(other => portsOf(other.slice).includes(port)))
}

function portsOf({ ports }: EndpointSlice): readonly string[] {
  return (ports ?? []).map(({ name = '', protocol = 'TCP' }) => `${name}/${protocol}`)
}

/** Not ready, so that nothing new goes there, but serving where it was ready: its own names in DNS stay. */
export function standbySlice(slice: EndpointSlice): EndpointSlice {
  const { metadata } = slice
  return {
    ...slice,
    metadata: { ...metadata, labels: { ...metadata.labels, [wellKnown.standby]: 'true' } },
    endpoints: slice.endpoints.map(({ conditions = {}, ...endpoint }) => ({
      ...endpoint,
      conditions: { ...conditions, ready: false, serving: isServing(conditions) },
    })),
  }
}

function isServing({ ready, serving, terminating }: Conditions): boolean {
  return ready !== false || (serving === true && terminating === true)
}
