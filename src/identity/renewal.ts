import { errorText, sleep } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import type { CertificateFacts } from './certificate.ts'

export type RenewalOptions = {
  /** What is renewed, for the log. */
  readonly name: string
  /** The certificate that is in use now. */
  current(): CertificateFacts
  /** Replaces what `current` answers. */
  renew(signal: AbortSignal): Promise<void>
  readonly clock: Clock
  readonly log: Logger
  /** In [0, 1): spreads renewals of many. */
  readonly random?: () => number
}

/** Longer than that no timer is set, so that a clock that is put right is noticed. */
const longestSleepMs = 3_600_000
const firstRetryMs = 5_000
const maxRetryMs = 600_000

/** When a certificate is to be renewed: between six and seven tenths of its life, so at two thirds within a few days. */
export function renewalMs(certificate: CertificateFacts, spread: number): number {
  const lifeMs = certificate.notAfterMs - certificate.notBeforeMs
  return certificate.notBeforeMs + lifeMs * (0.62 + 0.09 * spread)
}

/** Renews a certificate in time, again and again, until the signal aborts. A failure is tried again until it succeeds. */
export async function renewInTime(options: RenewalOptions, signal: AbortSignal): Promise<void> {
  const random = options.random ?? Math.random
  let spread = random()
  let failures = 0
  while (!signal.aborted) {
    const waitMs = renewalMs(options.current(), spread) - options.clock.now()
    if (waitMs > 0) {
      await pause(options.clock, Math.min(waitMs, longestSleepMs), signal)
    } else if (await renewed(options, failures, signal)) {
      failures = 0
      spread = random()
    } else {
      const delayMs = Math.min(firstRetryMs * 2 ** Math.min(failures, 16), maxRetryMs)
      failures += 1
      await pause(options.clock, delayMs * (0.5 + random() / 2), signal)
    }
  }
}

async function renewed(options: RenewalOptions, failures: number, signal: AbortSignal): Promise<boolean> {
  const { clock, log, name } = options
  try {
    await options.renew(signal)
    log.info('certificate renewed', { name })
    return true
  } catch (thrown) {
    if (signal.aborted) return false
    const leftMs = options.current().notAfterMs - clock.now()
    const fields = { name, failures: failures + 1, leftMs, error: errorText(thrown) }
    if (leftMs > 0) log.warn('certificate not renewed', fields)
    else log.error('certificate has expired and is not renewed', fields)
    return false
  }
}

/** Ends early when the signal aborts, which the loop then sees. */
async function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  await sleep(clock, delayMs, signal).catch(() => undefined)
}
