/** Valid objects of any kind, as many as a test wants, each with a name of its own. */
import { sampleOf } from '../../../src/api/derive/sample.ts'
import type { AnyKind } from '../../../src/api/kind.ts'
import type { KubeObject } from '../../../src/api/meta.ts'

/** The nth sample of a kind in a namespace. A kind whose names say what the object holds gets another content as well. */
export function nthSample(kind: AnyKind, n: number, namespace: string): KubeObject {
  const sample = sampleOf(kind)
  const parts = sample.metadata.name.split('.')
  const { apiVersion, kind: kindName, metadata, ...content } = sample
  const named: KubeObject = {
    apiVersion,
    kind: kindName,
    metadata: {
      name: parts.map(part => part + n).join('.'),
      ...(namespace === '' ? {} : { namespace }),
    },
    ...(replaced(content, (key, text) => {
      if (key === 'namespace' && text === metadata.namespace && namespace !== '') return namespace
      return parts.length > 1 && parts.includes(text) ? text + n : text
    }) as Readonly<Record<string, unknown>>),
  }
  return { ...named, metadata: { ...named.metadata, name: demandedName(kind, named) } }
}

/** Every text of a value, given with the key where it stands. */
function replaced(value: unknown, replace: (key: string, text: string) => string, key = ''): unknown {
  if (typeof value === 'string') return replace(key, value)
  if (Array.isArray(value)) return value.map(item => replaced(item, replace, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, replaced(inner, replace, name)]),
  )
}

/** Kinds that derive names from what objects hold say which name it must be. */
function demandedName(kind: AnyKind, object: KubeObject): string {
  const { name } = object.metadata
  const fault = kind.validate(kind.prepare(object)).find(({ field }) => field === 'metadata.name')
  return /must be (\S+\.\S+)$/.exec(fault?.message ?? '')?.[1] ?? name
}
