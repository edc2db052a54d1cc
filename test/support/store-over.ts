import type { Store } from '../../apiservice/store-contract.ts'

/** The store with some of its methods replaced. */
export function storeOver(store: Store, methods: Partial<Store>): Store {
  return {
    revision: () => store.revision(),
    oldest: () => store.oldest(),
    fault: () => store.fault(),
    get: key => store.get(key),
    list: (scope, options) => store.list(scope, options),
    snapshot: () => store.snapshot(),
    watch: (scope, after, listener) => store.watch(scope, after, listener),
    create: (key, body, guard) => store.create(key, body, guard),
    update: (key, expected, body, guard) => store.update(key, expected, body, guard),
    delete: (key, expected, body, guard) => store.delete(key, expected, body, guard),
    compact: revision => store.compact(revision),
    close: () => store.close(),
    ...methods,
  }
}
