import { isReason } from '../kernel/errors.ts'

/** Whether the hub has answered and will not have it, as it stands. */
export function isRefusal(thrown: unknown): boolean {
  return isReason(
    thrown,
    'BadRequest',
    'Forbidden',
    'Invalid',
    'NotFound',
    'RequestEntityTooLarge',
    'Unauthorized',
  )
}
