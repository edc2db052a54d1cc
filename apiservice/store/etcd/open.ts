import { errorText, never, sleep } from '../../../src/kernel/abort.ts'
import { type Clock, systemClock } from '../../../src/kernel/clock.ts'
import type { Revision, Store } from '../../store-contract.ts'
import { StoreOpenError } from '../open-error.ts'
import { type StoreOptions, withDefaults } from '../options.ts'
import { Claim, type Sharing } from './claim.ts'
import { EtcdClient } from './client.ts'
import { EtcdStore } from './etcd-store.ts'
import { GrpcError, type TlsFiles } from './grpc.ts'
import { EtcdLayout } from './layout.ts'
import { isMade, type LoadParts, load, mustBeThere } from './loading.ts'
import { readMarkers, shiftOf } from './markers.ts'
import { ShiftedEtcd } from './shifted.ts'

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

export type EtcdStoreOptions = StoreOptions & {
  readonly etcd: EtcdSettings
  /** How a server has it; absent for commands, which may go between the writes of servers. */
  readonly sharing?: Sharing
}

/**
 * Throws `StoreOpenError` when etcd cannot be reached, is too old, holds something else below the prefix, or when another
 * process has the store.
 */
export async function openEtcdStore(options: EtcdStoreOptions, signal = never): Promise<Store> {
  const { etcd, sharing, ...rest } = options
  const settings = withDefaults(rest)
  const { log, metrics } = settings
  const client = new EtcdClient({ clock: systemClock, ...etcd, log, metrics })
  const { place } = etcd
  const unshifted: LoadParts = { client, layout: new EtcdLayout(etcd.prefix), place, settings, shift: 0 }
  let claim: Claim | undefined
  let store: EtcdStore | undefined
  try {
    const shift = await firstAnswer(unshifted, () => makeUnlessThere(unshifted))
    const parts = shift === 0 ? unshifted : { ...unshifted, client: new ShiftedEtcd(client, shift), shift }
    claim = sharing && new Claim(parts, sharing)
    await claim?.take(signal)
    store = new EtcdStore(parts, await firstAnswer(parts, () => load(parts, never, mustBeThere)), claim)
    await store.opened(openWithinMs)
    return store
  } catch (thrown) {
    if (store === undefined) await claim?.release()
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

/** Answers by how much the revisions of the store are above those of etcd. */
async function makeUnlessThere(parts: LoadParts): Promise<Revision> {
  const { client, layout, place } = parts
  await client.requireSound()
  const shift = await shiftOf(client, layout, place, never)
  if ((await readMarkers({ ...parts, shift }, never)) === undefined) await isMade(parts, never)
  return shift
}

async function firstAnswer<T>({ client, settings }: LoadParts, ask: () => Promise<T>): Promise<T> {
  for (const until = client.clock.now() + openWithinMs; ; ) {
    try {
      return await ask()
    } catch (thrown) {
      if (!(thrown instanceof GrpcError) || client.clock.now() >= until) throw thrown
      settings.log.warn('etcd cannot be reached', { error: thrown.message })
    }
    await sleep(client.clock, retryMs, never)
  }
}
