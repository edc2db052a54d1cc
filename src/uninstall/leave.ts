/** The member, while it runs, is asked to leave its ClusterSet: it alone can tell the hub. */
import { ServiceKind } from '../api/kinds/service.ts'
import { leaveAsked, leaveDone, wellKnown } from '../api/well-known.ts'
import { resource } from '../cluster/cluster.ts'
import { sleep } from '../kernel/abort.ts'
import { isReason } from '../kernel/errors.ts'
import { podsOf, type UninstallOptions } from './member.ts'

const services = resource(ServiceKind)
const pollMs = 500
const polls = 20

/** Undefined when the cluster has left, now or before; otherwise why it has not. A member that is silent is not waited for long. */
export async function leaveClusterSet(
  options: UninstallOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { clock, cluster, service } = options
  if ((await podsOf(options, signal)).length === 0) {
    const before = await answer(options, signal)
    return before === leaveDone ? undefined : 'the member does not run and cannot tell it'
  }
  const annotations = { [wellKnown.leave]: leaveAsked }
  try {
    await cluster.mergePatch(services, service, { metadata: { annotations } }, { signal })
  } catch (thrown) {
    if (!isReason(thrown, 'NotFound')) throw thrown
    return 'the Service of the member is gone, by which it is asked to tell it'
  }
  for (let poll = 0; poll < polls; poll += 1) {
    await sleep(clock, pollMs, signal)
    const found = await answer(options, signal)
    if (found === leaveDone) {
      options.report('deleted: MemberCluster of this cluster, on the hub')
      return undefined
    }
    if (found !== leaveAsked) return found ?? 'nobody asks for it any more'
  }
  // Whoever runs here later must not take it for a question of its own time.
  await cluster.mergePatch(
    services,
    service,
    { metadata: { annotations: { [wellKnown.leave]: null } } },
    { signal },
  )
  return 'the member does not answer'
}

async function answer(
  { cluster, service }: UninstallOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { metadata } = await cluster.get(services, service, signal)
    return metadata.annotations?.[wellKnown.leave]
  } catch (thrown) {
    if (isReason(thrown, 'NotFound')) return undefined
    throw thrown
  }
}
