import { errorText, never, sleep } from '../../../src/kernel/abort.ts'
import { type Clock, systemClock } from '../../../src/kernel/clock.ts'
import type { Store } from '../../store-contract.ts'
import { StoreOpenError } from '../open-error.ts'
import { type StoreOptions, withDefaults } from '../options.ts'
import { EtcdClient } from './client.ts'
import { EtcdStore } from './etcd-store.ts'
import { GrpcError, type TlsFiles } from './grpc.ts'
import { EtcdLayout } from './layout.ts'
import { isMade, type Loaded, type LoadParts, load } from './loading.ts'

export type EtcdSettings = {
  /** `http://host:port` or `https://host:port` of each member that is asked. */
  readonly servers: readonly URL[]
  /** What every key begins with, without a slash at the end. */
  readonly prefix: string
  /** What the store is called in sentences. */
  readonly place: string
  readonly tls: () => TlsFiles
  /** For what the network takes; that of the machine unless told. */
  readonly clock?: Clock
}

/** How long the first start tries to reach etcd. */
const openWithinMs = 8_000
const retryMs = 500

/** Throws `StoreOpenError` when etcd cannot be reached, is too old, or holds something else below the prefix. */
export async function openEtcdStore(options: StoreOptions & { readonly etcd: EtcdSettings }): Promise<Store> {
  const { etcd, ...rest } = options
  const settings = withDefaults(rest)
  const { log, metrics } = settings
  const client = new EtcdClient({ clock: systemClock, ...etcd, log, metrics })
  const { place } = etcd
  const parts: LoadParts = { client, layout: new EtcdLayout(etcd.prefix), place, settings }
  let store: EtcdStore | undefined
  try {
    store = new EtcdStore(parts, await firstLoad(parts))
    await store.opened(openWithinMs)
    return store
  } catch (thrown) {
    await store?.close()
    client.close()
    if (thrown instanceof StoreOpenError) throw thrown
    throw new StoreOpenError(
      place,
      'unreachable',
      `the store in ${place} cannot be opened: ${errorText(thrown)}`,
      thrown,
    )
  }
}

async function firstLoad(parts: LoadParts): Promise<Loaded> {
  const { client, settings } = parts
  for (const until = client.clock.now() + openWithinMs; ; ) {
    try {
      await client.requireSound()
      return await load(parts, never, isMade)
    } catch (thrown) {
      if (!(thrown instanceof GrpcError) || client.clock.now() >= until) throw thrown
      settings.log.warn('etcd cannot be reached', { error: thrown.message })
    }
    await sleep(client.clock, retryMs, never)
  }
}
