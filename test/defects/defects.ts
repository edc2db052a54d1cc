import type { Defect } from './defect.ts'
import { earlyDefects } from './early.ts'
import { lateDefects } from './late.ts'

export const defects: readonly Defect[] = [...earlyDefects, ...lateDefects]
