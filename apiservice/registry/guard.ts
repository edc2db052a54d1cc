/**
 * Guarded writes: a request of an administrator may name another object and its revision, and is then only carried out
 * while that object is at that revision. By this the writes of a leader end with its term, also those that arrive late.
 */
import { guardHeader, parseGuard, termOver } from '../../src/api/write-guard.ts'
import { badRequest, forbidden } from '../../src/kernel/errors.ts'
import type { Guard, WriteResult } from '../store-contract.ts'
import type { Call } from './parts.ts'

const masters = 'system:masters'

/** Throws 400 when the header names nothing, and 403 for all but administrators: the answer tells of the other object. */
export function guardOf({ request, resource, name }: Call): Guard | undefined {
  const [text, ...more] = request.headers.get(guardHeader) ?? []
  if (text === undefined) return undefined
  if (!request.user.groups.includes(masters)) {
    throw forbidden(resource.ref, name, `only administrators may send the header ${guardHeader}`)
  }
  const named = more.length === 0 ? parseGuard(text) : undefined
  if (named === undefined) throw badRequest(`the header ${guardHeader} names no version of an object`)
  const { revision, ...key } = named
  return { key, revision }
}

/** Throws when the guard of a write held no more; then nothing was written. */
export function checkGuard({ resource, name }: Call, result: WriteResult): void {
  if (!result.done && result.isGuarded) throw termOver(resource.ref, name)
}
