import type { AdmissionAttributes } from '../../apiservice/contract.ts'
import { WidgetKind } from './kinds.ts'

/** The creation of a widget `web` in `shop` unless told otherwise. */
export function anAdmission(options: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
  return {
    operation: 'CREATE',
    served: { kind: WidgetKind, version: 'v2' },
    namespace: 'shop',
    name: 'web',
    subresource: '',
    user: { name: 'admin', groups: [], extra: {} },
    dryRun: false,
    object: {
      apiVersion: 'test.example.com/v2',
      kind: 'Widget',
      metadata: { name: 'web', namespace: 'shop' },
    },
    oldObject: undefined,
    warn: () => undefined,
    ...options,
  }
}
