/** `autoscaling/v1 Scale`: what clients see at `/scale` of an object of any kind. */
import { type AnyKind, defineKind } from './kind.ts'
import type { KubeObject } from './meta.ts'
import { isRecord } from './record.ts'
import { s } from './schema.ts'

/** Not a resource of its own: no server lists it. */
export const ScaleKind = defineKind({
  group: 'autoscaling',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'Scale',
  plural: 'scales',
  scope: 'Namespaced',
  description: 'How many of something an object stands for.',
  servers: ['standalone'],
  properties: {
    spec: s.optional(
      s.object(
        { replicas: s.optional(s.int({ minimum: 0, description: 'How many there shall be.' })) },
        { description: 'What is wanted.' },
      ),
    ),
    status: s.optional(
      s.object(
        {
          replicas: s.int({ description: 'How many there are.' }),
          selector: s.optional(s.string({ description: 'Which Pods these are, as a label selector.' })),
        },
        { description: 'What is there.' },
      ),
    ),
  },
})

/** The scale of an object, with its names and its version. */
export function toScale({ scale }: AnyKind, object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const selector = scale?.selector === undefined ? undefined : valueAt(object, scale.selector)
  return {
    apiVersion: 'autoscaling/v1',
    kind: ScaleKind.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: { replicas: valueAt(object, scale?.wanted ?? []) ?? 0 },
    status: {
      replicas: valueAt(object, scale?.current ?? []) ?? 0,
      ...(selector === undefined ? {} : { selector }),
    },
  }
}

/** The object with as many as the scale wants; none when it does not say. */
export function scaledTo({ scale }: AnyKind, object: KubeObject, sent: KubeObject): KubeObject {
  const replicas = valueAt(sent, ['spec', 'replicas']) ?? 0
  // Fields are replaced below the object itself.
  return withValueAt(object, scale?.wanted ?? [], replicas) as KubeObject
}

function valueAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value
  return isRecord(value) ? valueAt(value[name], rest) : undefined
}

function withValueAt(value: unknown, [name, ...rest]: readonly string[], replacement: unknown): unknown {
  if (name === undefined) return replacement
  const record = isRecord(value) ? value : {}
  return { ...record, [name]: withValueAt(record[name], rest, replacement) }
}
