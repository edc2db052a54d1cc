/** The responder of one cluster. */
import { join } from 'node:path'
import { type Dns, startDns } from '../../dns/responder.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { sleep } from '../kernel/abort.ts'
import type { Context } from './context.ts'

export type DnsRoleOptions = {
  readonly cluster: Cluster
  readonly host: string
  readonly port: number
  readonly home: string
  readonly ttlSeconds: number
  readonly workers: number
  /** How long it goes on answering after it was told to stop. */
  readonly lameDuckMs: number
}

const pollMs = 20

/** Resolves when it answers: with what the cluster says, or with what was known last when that is away. */
export async function startDnsRole(options: DnsRoleOptions, context: Context): Promise<Dns> {
  const { clock, log, metrics, signal } = context
  const { home, ...rest } = options
  const snapshotFile = join(home, 'services.json')
  const stop = new AbortController()
  const dns = await startDns({ ...rest, snapshotFile, clock, log, metrics }, stop.signal)
  try {
    while (!dns.ready()) await sleep(clock, pollMs, signal)
    return dns
  } catch (thrown) {
    await dns.close()
    throw thrown
  }
}
