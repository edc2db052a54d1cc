import type { Case } from './case.ts'
import { conflicts } from './rows/conflicts.ts'
import { importers } from './rows/importers.ts'
import { oneExport } from './rows/one.ts'
import { options } from './rows/options.ts'
import { preferences } from './rows/preferences.ts'

export const cases: readonly Case[] = [...oneExport, ...conflicts, ...importers, ...options, ...preferences]

/** Cases of the API server and of writes that do not happen: the number, and the test whose title begins with it. */
export const elsewhere: Readonly<Record<string, string>> = {
  '61': 'test/cases/api.test.ts',
  '62': 'test/cases/api.test.ts',
  '64': 'test/unit/src/export-flow.test.ts',
}

export const numberOf = ({ title }: Case): string => /^\d+/.exec(title)?.[0] ?? ''
