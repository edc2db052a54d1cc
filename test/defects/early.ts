import type { Defect } from './defect.ts'

/** Of discovery, gets, writes, patches and apply. Sorted by line. */
export const earlyDefects: readonly Defect[] = [
  {
    line: 27,
    what: 'objects begin without a generation',
    file: 'apiservice/registry/strategy.ts',
    find: 'if (kind.generation) metadata.generation = 1',
    replace: '',
  },
]
