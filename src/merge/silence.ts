import type { WhenUnreachable } from '../api/kinds/exported-service.ts'
import type { Contribution } from '../contract.ts'

export type Silence = {
  readonly endpoints: Contribution['unreachable']
  /** When that is going to change by itself, in milliseconds. */
  readonly changesAtMs: number | undefined
}

/** What becomes of the endpoints of an export whose cluster is silent since then; undefined: it is not. */
export function silenceOf(
  sinceMs: number | undefined,
  chosen: WhenUnreachable | undefined,
  nowMs: number,
): Silence {
  if (sinceMs === undefined || chosen?.action === 'Keep')
    return { endpoints: undefined, changesAtMs: undefined }
  if (chosen === undefined) return { endpoints: 'dropped', changesAtMs: undefined }
  const drainsAtMs = sinceMs + (chosen.afterSeconds ?? 0) * 1_000
  return nowMs < drainsAtMs
    ? { endpoints: undefined, changesAtMs: drainsAtMs }
    : { endpoints: 'draining', changesAtMs: undefined }
}
