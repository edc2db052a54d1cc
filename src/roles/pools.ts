/** Follows the blocks that ClusterSetIPs are taken from, as they are set while the hub runs. */
import type { HubFlow } from '../hub-flow.ts'
import { background, errorText } from '../kernel/abort.ts'
import { every } from '../kernel/work-queue.ts'
import type { Context } from './context.ts'

/** Files are replaced by links (ConfigMaps): asking often is surer than being told. */
const rereadMs = 5_000

/**
 * Until the signal of the context aborts. Blocks that are of no use change nothing, which is told once. What is read
 * counts when it is read twice: a file that is just being written may be empty, or half there.
 */
export function followPools(
  read: () => readonly string[],
  flow: Pick<HubFlow, 'setPools'>,
  { clock, log, signal }: Context,
): void {
  let refused = ''
  let before = ''
  const look = async (): Promise<void> => {
    try {
      const cidrs = read()
      const isSettled = cidrs.join() === before
      before = cidrs.join()
      if (isSettled) flow.setPools(cidrs)
      refused = ''
    } catch (thrown) {
      const error = errorText(thrown)
      if (error !== refused) log.error('the pools of ClusterSetIPs stay as they are', { error })
      refused = error
    }
  }
  const reread = { name: 'read pools of ClusterSetIPs', firstMs: rereadMs, intervalMs: rereadMs, clock, log }
  background(reread.name, log, signal, () => every(reread, look, signal))
}
