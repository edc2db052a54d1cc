import { background, errorText, sleep } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { Follow, Follower, Scope, Store } from '../store-contract.ts'

export type FollowOptions = { readonly clock: Clock; readonly log: Logger }

const retryMs = 1000

/**
 * Keeps copies of stored objects current: lists, watches from there, and lists again when the history is lost. A follower
 * that throws has lost track too and is given everything again.
 */
export function followStore(store: Store, { clock, log }: FollowOptions): Follow {
  async function run(scope: Scope, follower: Follower, signal: AbortSignal): Promise<void> {
    const { items, revision } = await store.list(scope, { limit: 0 })
    if (signal.aborted) return
    follower.reset(items)
    let open = true
    const close = store.watch(scope, revision, {
      events: batch => {
        if (open && batch.length > 0) follower.events(batch)
      },
      end: reason => {
        open = false
        signal.removeEventListener('abort', stop)
        if (reason === 'expired') background('follow', log, signal, () => again(scope, follower, signal))
      },
    })
    const stop = (): void => {
      open = false
      close()
    }
    signal.addEventListener('abort', stop, { once: true })
  }

  async function again(scope: Scope, follower: Follower, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await run(scope, follower, signal)
        return
      } catch (thrown) {
        log.warn('stored objects cannot be listed', {
          resource: scope.resources[0],
          error: errorText(thrown),
        })
        await sleep(clock, retryMs, signal)
      }
    }
  }

  return run
}
