/** The responder of one cluster. */
import { join } from 'node:path'
import { type Dns, type DnsOptions, startDns } from '../../dns/responder.ts'
import { sleep } from '../kernel/abort.ts'
import type { Context } from './context.ts'

export type DnsRoleOptions = Omit<DnsOptions, 'snapshotFile' | 'clock' | 'log' | 'metrics'> & {
  readonly home: string
}

const pollMs = 20

/** Resolves when it listens. What it does not know yet is answered with SERVFAIL. */
export function openDnsRole(options: DnsRoleOptions, context: Context): Promise<Dns> {
  const { clock, log, metrics } = context
  const { home, ...rest } = options
  const snapshotFile = join(home, 'services.json')
  const stop = new AbortController()
  return startDns({ ...rest, snapshotFile, clock, log, metrics }, stop.signal)
}

/** Resolves when it answers: with what the cluster says, or with what was known last when that is away. */
export async function whenAnswering(dns: Dns, { clock, signal }: Context): Promise<void> {
  while (!dns.ready()) await sleep(clock, pollMs, signal)
}

/** The two in one; closes again when it is stopped in between. */
export async function startDnsRole(options: DnsRoleOptions, context: Context): Promise<Dns> {
  const dns = await openDnsRole(options, context)
  try {
    await whenAnswering(dns, context)
    return dns
  } catch (thrown) {
    await dns.close()
    throw thrown
  }
}
