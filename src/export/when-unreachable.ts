import type { WhenUnreachable } from '../api/kinds/exported-service.ts'
import { wellKnown } from '../api/well-known.ts'

export type ChosenEnd = {
  /** Undefined when endpoints of a silent cluster are dropped, as without the annotation. */
  readonly chosen: WhenUnreachable | undefined
  readonly problem: string | undefined
}

const field = `metadata.annotations[${wellKnown.whenUnreachable}]`
const form = /^drain(?:=(\d{1,7})s)?$/

/** What becomes of the endpoints of an export, in other clusters, when its cluster has fallen silent. */
export function whenUnreachable(annotations: Readonly<Record<string, string>> | undefined): ChosenEnd {
  const text = annotations?.[wellKnown.whenUnreachable]
  if (text === undefined || text === 'drop') return { chosen: undefined, problem: undefined }
  if (text === 'keep') return { chosen: { action: 'Keep' }, problem: undefined }
  const drained = form.exec(text)
  if (drained === null) {
    const problem = `${field}: must be keep, drop, drain, or drain=300s with any number of seconds; endpoints are dropped`
    return { chosen: undefined, problem }
  }
  const [, seconds = '0'] = drained
  return { chosen: { action: 'Drain', afterSeconds: Number(seconds) }, problem: undefined }
}
