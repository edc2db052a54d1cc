/** Takes the cluster out of its ClusterSet when somebody asks for it at the member's own Service, such as who uninstalls it. */
import { type MemberCluster, MemberClusterKind } from '../api/kinds/member-cluster.ts'
import { type Service, ServiceKind } from '../api/kinds/service.ts'
import { membershipRefusal } from '../api/membership-refusal.ts'
import { leaveAsked, leaveDone, wellKnown } from '../api/well-known.ts'
import { type Cluster, type Informer, keyOf, type Ref, type Resource, resource } from '../cluster/cluster.ts'
import type { Writer } from '../cluster/writer.ts'
import { errorText } from '../kernel/abort.ts'
import { isReason } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import type { WorkQueue } from '../kernel/work-queue.ts'

export type LeaveOptions = {
  /** The id of this cluster. */
  readonly cluster: string
  readonly hub: Cluster
  /** The Service by which the cluster finds this member; who may annotate it may have the cluster leave. */
  readonly service: Ref
  readonly services: Informer<Service>
  readonly localWriter: Writer
  readonly log: Logger
  queue(name: string, writer: Writer, reconcile: (ref: Ref, signal: AbortSignal) => Promise<void>): WorkQueue
}

const members: Resource<MemberCluster> = resource(MemberClusterKind)
const services = resource(ServiceKind)
const hubWithinMs = 5_000

/**
 * One try for each time that it is asked for; the answer takes the place of the question. That the cluster has left is
 * taken back once it is a member again.
 */
export function leaveWhenAsked(options: LeaveOptions): void {
  const { localWriter, service, services: informer } = options
  const queue = options.queue('leave', localWriter, async (ref, signal) => {
    const found = informer.get(ref)
    const { [wellKnown.leave]: said, ...others } = found?.metadata.annotations ?? {}
    if (found === undefined || said === undefined) return
    if (said !== leaveAsked && !(said === leaveDone && (await isMember(options, signal)))) return
    const answer = said === leaveAsked ? { [wellKnown.leave]: await leave(options, signal) } : {}
    const answered = { ...found, metadata: { ...found.metadata, annotations: { ...others, ...answer } } }
    await localWriter.replace(services, answered, {}, signal)
  })
  informer.onChange(({ after }) => {
    if (after !== undefined && keyOf(after.metadata) === keyOf(service)) queue.add(keyOf(service))
  })
}

async function isMember({ cluster, hub }: LeaveOptions, signal: AbortSignal): Promise<boolean> {
  try {
    await hub.get(members, { name: cluster }, within(signal))
    return true
  } catch (thrown) {
    if (isReason(thrown, 'NotFound', 'Forbidden', 'Unauthorized')) return false
    throw thrown
  }
}

async function leave({ cluster, hub, log }: LeaveOptions, signal: AbortSignal): Promise<string> {
  try {
    await hub.delete(members, { name: cluster }, { signal: within(signal) })
  } catch (thrown) {
    signal.throwIfAborted()
    const isOut = isReason(thrown, 'NotFound') || membershipRefusal(thrown, cluster) === 'not joined'
    if (!isOut) {
      log.warn('the ClusterSet was not left', { error: errorText(thrown) })
      return errorText(thrown)
    }
  }
  log.info('the ClusterSet was left')
  return leaveDone
}

/** A hub that hangs is one that cannot be reached. */
function within(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(hubWithinMs)])
}
