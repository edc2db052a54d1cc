import { type Warner, warnerOf } from '../../apiservice/admission/warnings.ts'
import { ServiceKind } from '../api/kinds/service.ts'
import { ServiceExportKind } from '../api/kinds/service-export.ts'
import type { ExportWarnings } from '../export-warnings.ts'

/** `warnings` is asked for at each write: the server is there before the agent that knows. */
export function exportWarners(warnings: () => ExportWarnings | undefined): readonly Warner[] {
  return [
    warnerOf(ServiceExportKind, (object, old) => warnings()?.ofExport(object, old) ?? []),
    warnerOf(ServiceKind, (object, old) => warnings()?.ofService(object, old) ?? []),
  ]
}
