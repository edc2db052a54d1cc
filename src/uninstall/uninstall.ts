/**
 * Stage `uninstall`: takes a member out of its cluster. Promises: it ends, whether or not the member, its hub or anything
 * else of it still runs; nothing that sends packets or holds up a namespace stays; what it leaves it names.
 * Refuses: to touch what others made, APIServices that lead elsewhere among it.
 */

import { EndpointSliceKind } from '../api/kinds/endpoint-slice.ts'
import { ServiceKind } from '../api/kinds/service.ts'
import type { KubeObject } from '../api/meta.ts'
import { serviceManager, sliceManager, wellKnown } from '../api/well-known.ts'
import { apiServices, isServedBy } from '../cluster/api-services.ts'
import { keyOf, type Ref, type Resource, resource, type Selection } from '../cluster/cluster.ts'
import { sleep } from '../kernel/abort.ts'
import { isReason } from '../kernel/errors.ts'
import { leaveClusterSet } from './leave.ts'
import { leftBehind } from './left-behind.ts'
import { deployments, podsOf, type UninstallOptions } from './member.ts'

const pollMs = 500
const podPolls = 120

/** Rejects when the signal aborts before all is gone, or when it may not do what it has to. */
export async function uninstall(options: UninstallOptions, signal: AbortSignal): Promise<void> {
  const left = await leftBehind(options.cluster, signal)
  // First: while they lead to a server that is away, no namespace of the cluster can be deleted.
  await removeApiServices(options, signal)
  const why = await leaveClusterSet(options, signal)
  // Then who would make again what is removed after it.
  await stopMember(options, signal)
  const derived = { labelSelector: `${wellKnown.serviceManagedBy}=${serviceManager}` }
  await removeAll(options, resource(ServiceKind), derived, signal)
  const imported = { labelSelector: `${wellKnown.managedBy}=${sliceManager}` }
  await removeAll(options, resource(EndpointSliceKind), imported, signal)
  for (const line of [...left, onHub(why)]) options.report(`left: ${line}`)
}

/** `why` the cluster has not left its ClusterSet; undefined when it has. */
function onHub(why: string | undefined): string {
  return why === undefined
    ? 'on the hub: the namespace of this cluster, of which nothing counts any more; delete it there'
    : `on the hub: the MemberCluster of this cluster and the namespace in its status (${why}); delete both there, or other clusters keep its endpoints`
}

async function removeApiServices(options: UninstallOptions, signal: AbortSignal): Promise<void> {
  const { cluster, report, service } = options
  for (const name of options.apiServices) {
    const current = await unlessMissing(cluster.get(apiServices, { name }, signal))
    if (current === undefined) continue
    if (isServedBy(current, service)) await remove(options, apiServices, { name }, signal)
    else report(`left: APIService ${name}, which does not lead to ${keyOf(service)}`)
  }
}

/** Resolves when none of its pods is left, or when they stay too long: a node that is gone keeps its pods for ever. */
async function stopMember(options: UninstallOptions, signal: AbortSignal): Promise<void> {
  const { clock, report, service } = options
  await remove(options, deployments, service, signal)
  for (let polls = 0; ; polls += 1) {
    const items = await podsOf(options, signal)
    if (items.length === 0) return
    if (polls === podPolls) {
      for (const { metadata } of items) report(`left: Pod ${keyOf(metadata)}, which does not end`)
      return
    }
    await sleep(clock, pollMs, signal)
  }
}

/** Again until there is none: the server answers before what it deletes is gone. */
async function removeAll<O extends KubeObject>(
  options: UninstallOptions,
  kind: Resource<O>,
  selection: Selection,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const { items } = await options.cluster.list(kind, selection, signal)
    if (items.length === 0) return
    for (const { metadata } of items) {
      if (metadata.deletionTimestamp === undefined) await remove(options, kind, refOf(metadata), signal)
    }
    await sleep(options.clock, pollMs, signal)
  }
}

function refOf({ namespace, name }: KubeObject['metadata']): Ref {
  return namespace === undefined ? { name } : { namespace, name }
}

async function remove(
  { cluster, report }: UninstallOptions,
  kind: Resource<unknown>,
  ref: Ref,
  signal: AbortSignal,
): Promise<void> {
  const options = { propagationPolicy: 'Background', signal } as const
  const done = await unlessMissing(cluster.delete(kind, ref, options).then(() => true))
  if (done !== undefined) report(`deleted: ${kind.kind} ${keyOf(ref)}`)
}

async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (thrown) {
    if (isReason(thrown, 'NotFound')) return undefined
    throw thrown
  }
}
