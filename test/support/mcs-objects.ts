import type { AnyKind } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds/index.ts'
import type { KubeObject } from '../../src/api/meta.ts'

/** The kind of this name. */
export function kindNamed(name: string): AnyKind {
  const kind = kinds.find(k => k.kind === name)
  if (kind === undefined) throw new Error(`there is no kind ${name}`)
  return kind
}

/** A ServiceImport as a client sends it; `spec` over the plainest one. */
export function anImport(spec: Readonly<Record<string, unknown>> = {}): KubeObject {
  return {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceImport',
    metadata: { name: 'a', namespace: 'shop' },
    spec: { type: 'ClusterSetIP', ports: [{ name: 'http', port: 80, protocol: 'TCP' }], ...spec },
  }
}

/** A ServiceExport as a client sends it. */
export function anExport(more: Readonly<Record<string, unknown>> = {}): KubeObject {
  return {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceExport',
    metadata: { name: 'web', namespace: 'shop' },
    ...more,
  }
}

/** A condition that is valid but for what is given. */
export function aCondition(more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    type: 'Valid',
    status: 'True',
    reason: 'Valid',
    message: '',
    lastTransitionTime: '2024-01-01T00:00:00Z',
    ...more,
  }
}
