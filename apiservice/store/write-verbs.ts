import { badRequest } from '../../src/kernel/errors.ts'
import type { Store, WriteResult } from '../store-contract.ts'
import type { Write } from './batch.ts'
import { isStorableKey } from './record.ts'

export type WriteVerbs = Pick<Store, 'create' | 'update' | 'delete'>

/** The verbs of a store that takes writes as values. Keys that nobody could store come no further. */
export function writeVerbs(submit: (write: Write) => Promise<WriteResult>): WriteVerbs {
  const take = (write: Write): Promise<WriteResult> =>
    isStorableKey(write.key) ? submit(write) : Promise.reject(notStorable())
  return {
    create: (key, body, guard) => take({ verb: 'create', key, body, guard }),
    update: (key, expected, body, guard) => take({ verb: 'update', key, expected, body, guard }),
    delete: (key, expected, body, guard) => take({ verb: 'delete', key, expected, body, guard }),
  }
}

function notStorable(): Error {
  return badRequest('the name of the object is too long or is not valid Unicode')
}
