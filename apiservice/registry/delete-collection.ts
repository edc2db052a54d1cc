import { isReason } from '../../src/kernel/errors.ts'
import type { Reply } from '../contract.ts'
import type { StoredObject } from '../store-contract.ts'
import { removeObject } from './delete.ts'
import { type DeleteOptions, deleteOptions } from './delete-options.ts'
import { pageOf } from './list.ts'
import { listQuery } from './list-options.ts'
import type { Call } from './parts.ts'
import { selectionOf } from './selection.ts'

/** Deletions under way at once: they share the store's syncs. */
const concurrency = 32

/** Deletes what a list of the same query shows, and answers that list. Objects that are gone already are passed over. */
export async function removeCollection(call: Call, signal: AbortSignal): Promise<Reply> {
  const options = await deleteOptions(call.request)
  const query = listQuery(call.request.query)
  const selection = selectionOf(call, query.selectors, undefined)
  const { items, revision } = await pageOf(call, [selection], query, signal)
  await removeAll(call, items, options, signal)
  return { type: 'list', served: call.resource.served, items, revision }
}

/** The first failure is thrown, and nothing more is begun. */
async function removeAll(
  call: Call,
  items: readonly StoredObject[],
  options: DeleteOptions,
  signal: AbortSignal,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) {
      const { name, namespace } = item
      await removeOne({ ...call, name, namespace }, options, signal).catch((thrown: unknown) => {
        next = items.length
        throw thrown
      })
    }
  }
  const workers = Array.from({ length: Math.min(concurrency, items.length) }, worker)
  const failed = (await Promise.allSettled(workers)).find(result => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

async function removeOne(call: Call, options: DeleteOptions, signal: AbortSignal): Promise<void> {
  try {
    await removeObject(call, options, signal)
  } catch (thrown) {
    // Somebody else was faster: that is what was wanted.
    if (!isReason(thrown, 'NotFound')) throw thrown
  }
}
