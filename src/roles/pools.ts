/** Follows the blocks that ClusterSetIPs are taken from, as they are set while the hub runs. */
import { Allocator } from '../allocate/allocator.ts'
import type { HubFlow } from '../hub-flow.ts'
import { background, errorText, onAbort } from '../kernel/abort.ts'
import { every } from '../kernel/work-queue.ts'
import type { Context } from './context.ts'

type Flow = Pick<HubFlow, 'setPools'>

/** Files are replaced by links (ConfigMaps): asking often is surer than being told. */
const rereadMs = 5_000

/** The blocks as they are set by now, for a flow that goes on and for those that begin later. */
export class FollowedPools {
  #cidrs: readonly string[]
  #flow: Flow | undefined

  constructor(cidrs: readonly string[]) {
    this.#cidrs = cidrs
  }

  get cidrs(): readonly string[] {
    return this.#cidrs
  }

  /** Tells a flow that has begun with the blocks as they are, until its signal aborts. */
  tell(flow: Flow, signal: AbortSignal): void {
    this.#flow = flow
    onAbort(signal, () => {
      if (this.#flow === flow) this.#flow = undefined
    })
  }

  /** Throws, and changes nothing, when they are of no use. */
  set(cidrs: readonly string[]): void {
    if (this.#flow === undefined) new Allocator(cidrs)
    else this.#flow.setPools(cidrs)
    this.#cidrs = cidrs
  }
}

/**
 * Until the signal of the context aborts. Blocks that are of no use change nothing, which is told once. What is read
 * counts when it is read twice: a file that is just being written may be empty, or half there.
 */
export function followPools(
  read: () => readonly string[],
  pools: Pick<FollowedPools, 'set'>,
  { clock, log, signal }: Context,
): void {
  let refused = ''
  let before = ''
  const look = async (): Promise<void> => {
    try {
      const cidrs = read()
      const isSettled = cidrs.join() === before
      before = cidrs.join()
      if (isSettled) pools.set(cidrs)
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
