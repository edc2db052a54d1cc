/** Why a hub refuses a member as a whole: said at the end of its 403, and understood again in the member. */
import { isReason } from '../kernel/errors.ts'

export function notAcceptedText(id: string): string {
  return `cluster ${JSON.stringify(id)} is not accepted`
}

export function notJoinedText(id: string): string {
  return `no cluster ${JSON.stringify(id)} has joined`
}

/** What the member `id` says of it; undefined for every other error. */
export function membershipRefusal(thrown: unknown, id: string): string | undefined {
  if (!isReason(thrown, 'Forbidden')) return undefined
  if (thrown.message.endsWith(notAcceptedText(id))) return 'this cluster is not accepted by the hub'
  if (thrown.message.endsWith(notJoinedText(id))) return 'this cluster is no longer known to the hub'
  return undefined
}
