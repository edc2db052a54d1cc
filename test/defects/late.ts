import type { Defect } from './defect.ts'

/** Of lists, watches, OpenAPI, users and operation. Sorted by line. */
export const lateDefects: readonly Defect[] = [
  {
    line: 78,
    what: 'later pages show the newest state',
    file: 'apiservice/registry/list.ts',
    find: 'position.revision === -1 ? {} : { revision: position.revision }',
    replace: '{}',
  },
  {
    line: 80,
    what: 'an expired token is answered without one to go on with',
    file: 'apiservice/registry/list.ts',
    find: 'expired(message, toToken({ ...position, revision: -1 }))',
    replace: 'expired(message)',
  },
  {
    line: 82,
    what: 'a page of a version shows the newest state',
    file: 'apiservice/registry/list.ts',
    find: "(match === '' && limit > 0 && revision !== undefined && revision > 0)",
    replace: 'false',
  },
  {
    line: 84,
    what: 'notin demands the label',
    file: 'src/api/selector.ts',
    find: 'return value === undefined || !values.has(value)',
    replace: 'return value !== undefined && !values.has(value)',
  },
  {
    line: 90,
    what: 'a watch misses the event behind its version',
    file: 'apiservice/registry/watch.ts',
    find: 'const from = Math.min(after, store.revision())',
    replace: 'const from = Math.min(after + 1, store.revision())',
  },
  {
    line: 94,
    what: 'what leaves a selection is told as it is now',
    file: 'apiservice/registry/transition.ts',
    find: "return before && { type: 'DELETED', object: departed(before, object) }",
    replace: "return before && { type: 'DELETED', object }",
  },
  {
    line: 97,
    what: 'no bookmark comes before the end',
    file: 'apiservice/registry/watch.ts',
    find: 'if (timeoutMs > lastBookmarkMs) {',
    replace: 'if (timeoutMs < 0) {',
  },
  {
    line: 99,
    what: 'nothing marks the end of nothing',
    file: 'apiservice/registry/watch.ts',
    find: 'if (query.bookmarks) this.#bookmark(true)',
    replace: 'if (query.bookmarks && items.length > 0) this.#bookmark(true)',
  },
  {
    line: 102,
    what: 'every Table of a watch names its columns',
    file: 'apiservice/negotiation/frames.ts',
    find: 'withColumns = false',
    replace: '',
  },
  {
    line: 110,
    what: 'patches do not list fieldValidation',
    file: 'src/api/derive/openapi-operations.ts',
    find: 'parameters: [...writeParameters, forceParameter],',
    replace: 'parameters: [pretty, forceParameter],',
  },
  {
    line: 114,
    what: 'sets are merged as a whole',
    file: 'src/api/derive/field-shape.ts',
    find: "if (listType === 'set') return { type: 'set' }",
    replace: '',
  },
]
