/** Reads that ask for a state not older than a revision wait for it. */
import { sleep } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { type StatusError, timedOut } from '../../src/kernel/errors.ts'
import type { Revision, Store } from '../store-contract.ts'

type Parts = { readonly store: Store; readonly clock: Clock }

const patienceMs = 3_000
const intervalMs = 50

/** What a client asks for: beyond 2^53 only the text has every digit. */
export type Asked = { readonly revision: Revision | undefined; readonly revisionText: string }

/**
 * Resolves when the store has come to a revision; undefined when it has already. Throws 504 with the cause
 * ResourceVersionTooLarge after 3 s.
 */
export function reach(
  parts: Parts,
  { revision, revisionText }: Asked,
  signal: AbortSignal,
): Promise<void> | undefined {
  if (revision === undefined || revision <= parts.store.revision()) return undefined
  return wait(parts, { revision, revisionText }, signal)
}

async function wait(
  { store, clock }: Parts,
  { revision, revisionText }: Asked & { readonly revision: Revision },
  signal: AbortSignal,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += intervalMs) {
    await sleep(clock, intervalMs, signal)
    if (revision <= store.revision()) return
  }
  throw tooLargeRevision(BigInt(revisionText), store.revision())
}

function tooLargeRevision(revision: bigint, current: Revision): StatusError {
  return timedOut(`Timeout: Too large resource version: ${revision}, current: ${current}`, 1, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ])
}
