/**
 * What each member may import, computed from stored ClusterSetServices and ExportedEndpointSlices. Whether an object is
 * visible depends on the reading member and on the object alone, never on who else is a member: so a member that comes
 * or goes makes nobody else list again. Slices of a cluster that is no member (any more) name no source and no
 * ClusterSetService names that cluster, so nobody imports them.
 */

import { newlyChanged } from '../../src/api/changed.ts'
import { memberNamespace } from '../../src/api/cluster-id.ts'
import { type AnyKind, apiVersionOf } from '../../src/api/kind.ts'
import {
  type ClusterSetService,
  ClusterSetServiceKind,
  type StoredAudience,
} from '../../src/api/kinds/cluster-set-service.ts'
import {
  type ExportedEndpointSlice,
  ExportedEndpointSliceKind,
} from '../../src/api/kinds/exported-endpoint-slice.ts'
import type { ObjectMeta } from '../../src/api/meta.ts'
import { byNamespace } from '../../src/api/order.ts'
import { wellKnown } from '../../src/api/well-known.ts'
import { decodeBody, encodeBody, headOf } from '../../src/codec/object-bytes.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
import type { View } from '../contract.ts'
import type { ObjectKey, Revision, StoredObject } from '../store-contract.ts'

/** A member as the view needs it. */
export type ViewMember = {
  readonly cluster: string
  readonly namespace: string
  /** A member that is not accepted sees nothing. */
  readonly accepted: boolean
  /** The namespaces that it takes part in; absent for all. */
  readonly namespaces: readonly string[] | undefined
  /** Since which this is so, or a later one when that is not known. */
  readonly revision: Revision
}

/** What decides who sees an object, and what is shown around its bytes. */
type Facts = {
  readonly apiVersion: string
  readonly kind: string
  readonly serviceNamespace: string
  readonly consumers: readonly string[] | undefined
  /** Of a service that not every cluster imports alike. */
  readonly audiences: readonly SeenAudience[] | undefined
  /** A service without exports, whose addresses are kept for a while. */
  readonly released: boolean
  /** The name, uid and creation of the Importable, as members of a JSON object. */
  readonly identity: string
}

/** Clusters that see a service alike. */
type SeenAudience = {
  /** Undefined for all that no other audience names. */
  readonly consumers: readonly string[] | undefined
  /** The service as they see it, encoded once. */
  body(): Buffer
}

const resourceOf = (kind: AnyKind): string => `${kind.plural}.${kind.group}`
const serviceResource = resourceOf(ClusterSetServiceKind)
const sliceResource = resourceOf(ExportedEndpointSliceKind)

export class ImportableView implements View {
  readonly resources = [serviceResource, sliceResource]
  /** By namespace. */
  #members = new Map<string, ViewMember>()
  /** By namespace, for those that ever changed. */
  readonly #since = new Map<string, Revision>()
  #lastChange: Revision = 0
  readonly #listeners = new Set<(namespace: string) => void>()

  /** Replaces all members, as they are at a revision; watches of those whose own rights have changed end. */
  setMembers(members: readonly ViewMember[], revision: Revision): void {
    const before = this.#members
    this.#members = new Map(members.map(member => [member.namespace, member]))
    for (const namespace of new Set([...before.keys(), ...this.#members.keys()])) {
      if (rightsOf(before.get(namespace)) === rightsOf(this.#members.get(namespace))) continue
      const since = this.#members.get(namespace)?.revision ?? revision
      this.#since.set(namespace, since)
      this.#lastChange = Math.max(this.#lastChange, since)
      for (const listener of this.#listeners) listener(namespace)
    }
  }

  namespaces(): readonly string[] {
    return [...this.#members.keys()].sort(byNamespace)
  }

  since(namespace: string): Revision {
    return namespace === '' ? this.#lastChange : (this.#since.get(namespace) ?? 0)
  }

  keysOf(name: string): readonly ObjectKey[] {
    const dot = name.indexOf('.')
    const service = { resource: serviceResource, namespace: '', name }
    const slice = { resource: sliceResource, namespace: name.slice(0, dot), name: name.slice(dot + 1) }
    return dot === -1 ? [service] : [service, slice]
  }

  visible(namespace: string, object: StoredObject): boolean {
    const reader = this.#members.get(namespace)
    if (reader?.accepted !== true || object.namespace === namespace) return false
    const { audiences, consumers, released, serviceNamespace } = factsOf(object)
    if (released) return false
    if (reader.namespaces !== undefined && !reader.namespaces.includes(serviceNamespace)) return false
    if (audiences !== undefined) return audienceOf(audiences, reader.cluster) !== undefined
    return consumers === undefined || consumers.includes(reader.cluster)
  }

  render(namespace: string, object: StoredObject): StoredObject {
    const { apiVersion, audiences, identity, kind } = factsOf(object)
    const reader = this.#members.get(namespace)?.cluster ?? ''
    const shown = audienceOf(audiences, reader)?.body() ?? object.body
    const source = this.#members.get(object.namespace)?.cluster
    const named = source === undefined ? '' : `"source":${JSON.stringify(source)},`
    const inner = headOf(apiVersion, kind, object.revision, shown)
    const head = `${identity},"namespace":${JSON.stringify(namespace)}},${named}"object":${inner}`
    return {
      revision: object.revision,
      resource: 'importables.hub.isthmus.dev',
      namespace,
      name: nameOf(object),
      body: Buffer.concat([Buffer.from(head), shown, closing]),
    }
  }

  onChange(listener: (namespace: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** An object version is read once, whoever asks. */
const factsOf = madeOnce(
  (object: StoredObject): Facts =>
    object.resource === serviceResource ? factsOfService(object) : factsOfSlice(object),
)

const closing = Buffer.from('}')

/**
 * Names of services have two labels, those of slices begin with the exporter's namespace and have more. Names of
 * namespaces have no dot, and nothing that names may have sorts between a dot and a slash: slices keep their order.
 */
function nameOf({ namespace, name }: StoredObject): string {
  return namespace === '' ? name : `${namespace}.${name}`
}

function factsOfService(object: StoredObject): Facts {
  const apiVersion = apiVersionOf(ClusterSetServiceKind)
  const kind = ClusterSetServiceKind.kind
  // The registry stores only what the kind's schema has accepted.
  const service = decodeBody(apiVersion, kind, object) as unknown as ClusterSetService
  return {
    apiVersion,
    kind,
    serviceNamespace: service.spec.namespace,
    consumers: service.spec.consumers,
    audiences: service.status.audiences?.map(audience => seenAudience(service, audience)),
    released: service.status.releasedAt !== undefined,
    identity: identityOf(object, service),
  }
}

function audienceOf(
  audiences: readonly SeenAudience[] | undefined,
  cluster: string,
): SeenAudience | undefined {
  const named = audiences?.find(({ consumers }) => consumers?.includes(cluster) === true)
  return named ?? audiences?.find(({ consumers }) => consumers === undefined)
}

function seenAudience(service: ClusterSetService, audience: StoredAudience): SeenAudience {
  let body: Buffer | undefined
  return {
    consumers: audience.consumers,
    body: () => {
      body ??= encodeBody(asSeen(service, audience))
      return body
    },
  }
}

/** Without a trace of the exports, and of the clusters, that are not for them to see. */
function asSeen(service: ClusterSetService, audience: StoredAudience): ClusterSetService {
  const { metadata, spec, status, ...rest } = service
  const { namespace, service: name } = spec
  const clusters = status.clusters.filter(({ cluster }) => audience.clusters.includes(cluster))
  const { addresses } = status
  const reported = audience.consumers === undefined ? {} : { reported: true }
  const problem = audience.problem === undefined ? {} : { problem: audience.problem }
  return {
    ...rest,
    metadata: metadataSeen(metadata, audience),
    spec: { namespace, service: name, ...reported, ...audience.spec },
    status: { clusters, addresses, ...problem },
  }
}

function metadataSeen(metadata: ObjectMeta, { clusters }: StoredAudience): ObjectMeta {
  const { annotations } = metadata
  if (annotations?.[wellKnown.changed] === undefined) return metadata
  const by = newlyChanged(undefined, { metadata })?.by
  if (clusters.some(cluster => memberNamespace(cluster) === by)) return metadata
  const { [wellKnown.changed]: _changed, ...seen } = annotations
  return { ...metadata, annotations: seen }
}

function factsOfSlice(object: StoredObject): Facts {
  const apiVersion = apiVersionOf(ExportedEndpointSliceKind)
  const kind = ExportedEndpointSliceKind.kind
  // The registry stores only what the kind's schema has accepted.
  const slice = decodeBody(apiVersion, kind, object) as unknown as ExportedEndpointSlice
  return {
    apiVersion,
    kind,
    serviceNamespace: slice.spec.namespace,
    consumers: slice.spec.consumers,
    audiences: undefined,
    released: false,
    identity: identityOf(object, slice),
  }
}

function identityOf(object: StoredObject, { metadata }: ClusterSetService | ExportedEndpointSlice): string {
  const { creationTimestamp, uid } = metadata
  return JSON.stringify({ name: nameOf(object), uid, creationTimestamp }).slice(1, -1)
}

/** Equal texts: the member sees the same. */
function rightsOf(member: ViewMember | undefined): string {
  if (member?.accepted !== true) return ''
  return JSON.stringify([
    member.cluster,
    member.namespaces === undefined ? '*' : [...member.namespaces].sort((a, b) => (a < b ? -1 : 1)),
  ])
}
