/**
 * How much one member may keep on its hub: a member that lies takes no room from others. In the words of the
 * ResourceQuota of kube-apiserver, so that clients know them.
 */
import type { KubeObject } from '../../src/api/meta.ts'
import { forbidden, qualified, quotaExceeded } from '../../src/kernel/errors.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../contract.ts'
import type { Follow, Follower, StoredObject, StoreEvent } from '../store-contract.ts'

export type MemberQuota = {
  readonly exports: number
  readonly slices: number
  /** Of all that it keeps, as JSON. */
  readonly bytes: number
}

const mib = 1024 * 1024
export const defaultMemberQuota: MemberQuota = { exports: 5_000, slices: 10_000, bytes: 64 * mib }

export type MemberQuotaPlugin = AdmissionPlugin & {
  /** Resolves when it is known what members keep. */
  start(follow: Follow, signal: AbortSignal): Promise<void>
}

const exportedServices = 'exportedservices.hub.isthmus.dev'
const exportedSlices = 'exportedendpointslices.hub.isthmus.dev'
const leases = 'leases.coordination.k8s.io'
/** What members write of which there may be many. */
const counted: ReadonlySet<string> = new Set([
  exportedServices,
  exportedSlices,
  'importedservices.hub.isthmus.dev',
  leases,
  'events',
])
/** The one Lease by which a member says that it is there: that is never kept out. */
const heartbeat = 'heartbeat'
const memberPrefix = 'member-'

/** What is written at the same moment is not yet counted: a member may come to hold a few more. */
export function memberQuota(quota: MemberQuota): MemberQuotaPlugin {
  const usage = new Usage()
  return {
    name: 'MemberQuota',
    start: (follow, signal) => follow({ resources: [...counted], namespace: '' }, usage, signal),
    handles: ({ operation, name, namespace, served, subresource }) =>
      operation !== 'DELETE' &&
      (name !== heartbeat || qualifiedOf(served) !== leases) &&
      subresource === '' &&
      namespace.startsWith(memberPrefix) &&
      counted.has(qualifiedOf(served)),
    async validate(attributes) {
      const problem = problemOf(attributes, quota, usage)
      if (problem === undefined) return
      const { name, served } = attributes
      throw forbidden(refOf(served), name, `exceeded quota: ${problem}`, [
        { reason: quotaExceeded, message: problem, field: 'metadata.namespace' },
      ])
    },
  }
}

function problemOf(attributes: AdmissionAttributes, quota: MemberQuota, usage: Usage): string | undefined {
  const { namespace, operation, served } = attributes
  const resource = qualifiedOf(served)
  const { bytes } = usage.of(namespace, '')
  if (bytes >= quota.bytes && grows(attributes))
    return `member-size, used: bytes=${bytes}, limited: bytes=${quota.bytes}`
  const limits: Readonly<Record<string, readonly [string, number]>> = {
    [exportedServices]: ['member-exports', quota.exports],
    [exportedSlices]: ['member-slices', quota.slices],
  }
  const [name, limit] = limits[resource] ?? ['', Number.POSITIVE_INFINITY]
  const used = usage.of(namespace, resource).count
  if (operation !== 'CREATE' || used < limit) return undefined
  const what = `count/${resource}`
  return `${name}, requested: ${what}=1, used: ${what}=${used}, limited: ${what}=${limit}`
}

/** Asked only when something is full. */
function grows({ object, oldObject }: AdmissionAttributes): boolean {
  return oldObject === undefined || sizeOf(object) > sizeOf(oldObject)
}

function sizeOf(object: KubeObject | undefined): number {
  return JSON.stringify(object ?? {}).length
}

type Served = AdmissionAttributes['served']
const refOf = ({ kind }: Served) => ({ group: kind.group, resource: kind.plural })
const qualifiedOf = (served: Served): string => qualified(refOf(served))

type Used = { readonly count: number; readonly bytes: number }
const nothing: Used = { count: 0, bytes: 0 }

/** By namespace and resource; by namespace alone, of all resources together. */
class Usage implements Follower {
  readonly #used = new Map<string, Used>()

  of(namespace: string, resource: string): Used {
    return this.#used.get(`${namespace} ${resource}`) ?? nothing
  }

  reset(items: readonly StoredObject[]): void {
    this.#used.clear()
    for (const item of items) this.#add(item, 1, item.body.length)
  }

  events(batch: readonly StoreEvent[]): void {
    for (const { type, object, previous } of batch) {
      const isThere = Number(type === 'PUT')
      const more = isThere - Number(previous !== undefined)
      this.#add(object, more, isThere * object.body.length - (previous?.body.length ?? 0))
    }
  }

  #add({ namespace, resource }: StoredObject, moreObjects: number, moreBytes: number): void {
    if (!namespace.startsWith(memberPrefix) || (moreObjects === 0 && moreBytes === 0)) return
    for (const key of [`${namespace} ${resource}`, `${namespace} `]) {
      const { bytes, count } = this.#used.get(key) ?? nothing
      const used = { count: count + moreObjects, bytes: bytes + moreBytes }
      if (used.count === 0) this.#used.delete(key)
      else this.#used.set(key, used)
    }
  }
}
