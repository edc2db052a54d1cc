/** Services as clients send them, and as the registry has them before it validates. */
import { applyDefaults } from '../../src/api/derive/validate.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { kindNamed } from './mcs-objects.ts'

export const serviceKind = kindNamed('Service')
export type Spec = Readonly<Record<string, unknown>>
export const http = { name: 'http', port: 80 }

export function aService(spec: Spec = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { ports: [http], ...spec },
  }
}

export function preparedService(spec: Spec, old?: KubeObject): KubeObject {
  return serviceKind.prepare(applyDefaults(serviceKind, aService(spec)), old)
}
