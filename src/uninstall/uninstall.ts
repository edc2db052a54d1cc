/**
 * Stage `uninstall`: takes a member out of its cluster. Promises: it ends, whether or not the member, its hub or anything
 * else of it still runs; nothing that sends packets or holds up a namespace stays; what it leaves it names.
 * Refuses: to touch what others made, APIServices that lead elsewhere among it.
 */

import { EndpointSliceKind } from '../api/kinds/endpoint-slice.ts'
import { ServiceKind } from '../api/kinds/service.ts'
import type { KubeObject } from '../api/meta.ts'
import { serviceManager, sliceManager, wellKnown } from '../api/well-known.ts'
import { apiServices, isServedBy, type ServiceName } from '../cluster/api-services.ts'
import { type Cluster, keyOf, type Ref, type Resource, resource, type Selection } from '../cluster/cluster.ts'
import { sleep } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import { isReason } from '../kernel/errors.ts'
import { leftBehind } from './left-behind.ts'

export type UninstallOptions = {
  readonly cluster: Cluster
  /** `<version>.<group>` of each. */
  readonly apiServices: readonly string[]
  /** Of the member; its Deployment has the same name. */
  readonly service: ServiceName
  readonly clock: Clock
  /** Told each thing that is done, and what is left. */
  report(line: string): void
}

const pollMs = 500
const podPolls = 120
const deployments = workload('apps', 'v1', 'Deployment', 'deployments')
const pods = workload('', 'v1', 'Pod', 'pods')

function workload(group: string, version: string, kind: string, plural: string): Resource<KubeObject> {
  const apiVersion = group === '' ? version : `${group}/${version}`
  return { group, version, apiVersion, kind, plural, namespaced: true }
}

/** Rejects when the signal aborts before all is gone, or when it may not do what it has to. */
export async function uninstall(options: UninstallOptions, signal: AbortSignal): Promise<void> {
  const left = await leftBehind(options.cluster, signal)
  // First: while they lead to a server that is away, no namespace of the cluster can be deleted.
  await removeApiServices(options, signal)
  // Then who would make again what is removed after it.
  await stopMember(options, signal)
  const derived = { labelSelector: `${wellKnown.serviceManagedBy}=${serviceManager}` }
  await removeAll(options, resource(ServiceKind), derived, signal)
  const imported = { labelSelector: `${wellKnown.managedBy}=${sliceManager}` }
  await removeAll(options, resource(EndpointSliceKind), imported, signal)
  for (const line of left) options.report(`left: ${line}`)
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
  const { clock, cluster, report, service } = options
  const { namespace, name } = service
  await remove(options, deployments, service, signal)
  const component = name.replace(/^isthmus-/, '')
  const labelSelector = `app.kubernetes.io/name=isthmus,app.kubernetes.io/component=${component}`
  for (let polls = 0; ; polls += 1) {
    const { items } = await cluster.list(pods, { namespace, labelSelector }, signal)
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
