import { bindUdp, listenTcp } from './bind.ts'

/** Rejects with one sentence when somebody listens there already. */
export async function probe(endpoint: { readonly host: string; readonly port: number }): Promise<void> {
  const alone = { ...endpoint, shared: false }
  const udp = await bindUdp(alone, {})
  await new Promise<void>(resolve => udp.close(() => resolve()))
  const tcp = await listenTcp(alone, {})
  await new Promise<void>(resolve => tcp.close(() => resolve()))
}
