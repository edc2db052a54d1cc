/** Why a hub refuses a member as a whole: said at the end of its 403, and understood again in the member. */
import { isReason } from '../kernel/errors.ts'

/** `renewed`: another certificate was given to the cluster since. */
export type MembershipRefusal = 'not accepted' | 'not joined' | 'renewed'

const texts: Readonly<Record<MembershipRefusal, (id: string) => string>> = {
  'not accepted': id => `cluster ${id} is not accepted`,
  'not joined': id => `no cluster ${id} has joined`,
  renewed: id => `cluster ${id} has joined anew since this certificate was issued`,
}

/** In the words of the hub. */
export function refusalText(refusal: MembershipRefusal, id: string): string {
  return texts[refusal](JSON.stringify(id))
}

/** What an answer says of the member `id`; undefined for every other error. */
export function membershipRefusal(thrown: unknown, id: string): MembershipRefusal | undefined {
  if (!isReason(thrown, 'Forbidden')) return undefined
  const all: readonly MembershipRefusal[] = ['not accepted', 'not joined', 'renewed']
  return all.find(refusal => thrown.message.endsWith(refusalText(refusal, id)))
}
