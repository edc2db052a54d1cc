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
]
