import {
  exportedAnnotationProblem,
  exportedLabelProblem,
  exportedMapProblem,
} from '../api/kinds/exported-service.ts'

type StringMap = Readonly<Record<string, string>>

export type ExportedMap = {
  readonly kept: StringMap
  /** A sentence for each pair that is left out. */
  readonly dropped: readonly string[]
}

/**
 * The labels that an import can carry. ServiceExport does not check them, and one bad key must not keep the whole import
 * from being written.
 */
export function exportableLabels(labels: StringMap | undefined): ExportedMap {
  return split('exportedLabels', labels, exportedLabelProblem)
}

/** As `exportableLabels`, for annotations. */
export function exportableAnnotations(annotations: StringMap | undefined): ExportedMap {
  return split('exportedAnnotations', annotations, exportedAnnotationProblem)
}

function split(
  field: string,
  map: StringMap | undefined,
  problemOf: (key: string, value: string) => string | undefined,
): ExportedMap {
  const tooLong = exportedMapProblem(map ?? {})
  if (tooLong !== undefined) return { kept: {}, dropped: [`spec.${field}: ${tooLong}`] }
  const kept: [string, string][] = []
  const dropped: string[] = []
  for (const [key, value] of Object.entries(map ?? {})) {
    const problem = problemOf(key, value)
    if (problem === undefined) kept.push([key, value])
    else dropped.push(`spec.${field}[${key.slice(0, 100)}]: ${problem}`)
  }
  return { kept: Object.fromEntries(kept), dropped }
}
