/** What every implementation of the `Store` seam promises. */
import { describe } from 'vitest'
import { describeGuards } from './store/guards.ts'
import { type StoreManifest, type StorePlace, storeTest } from './store/harness.ts'
import { describeHistory } from './store/history.ts'
import { describeLists } from './store/lists.ts'
import { describeModel } from './store/model.ts'
import { describeWatches } from './store/watches.ts'
import { describeWrites } from './store/writes.ts'

/** `make` answers a place without a store. What the manifest denies is skipped with its reason. */
export function storeConformance(
  title: string,
  make: () => Promise<StorePlace>,
  manifest: StoreManifest,
): void {
  describe(`${title} as a store`, () => {
    const test = storeTest(make)
    describeWrites(test, manifest)
    describeGuards(test)
    describeLists(test)
    describeWatches(test)
    describeHistory(test, manifest)
    describeModel(make, manifest)
  })
}
