import type { ServiceExport } from '../api/kinds/service-export.ts'
import { ServiceExportKind } from '../api/kinds/service-export.ts'
import { resource } from '../cluster/cluster.ts'
import { equalJson } from '../cluster/json.ts'

const { apiVersion, kind } = resource(ServiceExportKind)

/** What of an export is its owner's: not its status, nor the finalizers of controllers that no longer see it. */
export function carried({ metadata, spec }: ServiceExport): ServiceExport {
  const { namespace, name, labels, annotations, ownerReferences } = metadata
  return {
    apiVersion,
    kind,
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      name,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    ...(spec === undefined ? {} : { spec }),
  }
}

/** Whether an export asks for the same; what people note on it may differ. */
export function isSame(current: ServiceExport, wanted: ServiceExport): boolean {
  return equalJson(current.spec ?? {}, wanted.spec ?? {})
}
