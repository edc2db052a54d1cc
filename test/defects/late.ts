import type { Defect } from './defect.ts'

/** Of lists, watches, OpenAPI, users and operation. Sorted by line. */
export const lateDefects: readonly Defect[] = []
