// What Go clients and kubectl write: valid objects of every kind that a server lets its users write.

import { sampleOf } from '../../src/api/derive/sample.ts'
import { type AnyKind, apiVersionOf } from '../../src/api/kind.ts'
import { exportedSliceName } from '../../src/api/kinds/exported-endpoint-slice.ts'
import type { KubeObject } from '../../src/api/meta.ts'

/** Where the namespaced ones go; the test makes it. */
export const namespace = 'clients'

type Content = Readonly<Record<string, unknown>> & { readonly spec?: Readonly<Record<string, unknown>> }

/** For kinds whose names and contents belong together, or whose sample belongs to the namespace `default`. */
const adapted: Readonly<Record<string, (sample: Content, name: string) => Partial<KubeObject> & Content>> = {
  clustersetservices: ({ spec }, name) => ({
    metadata: { name: `${namespace}.${name}` },
    spec: { ...spec, namespace, service: name },
  }),
  exportedservices: ofService,
  importedservices: ofService,
  exportedendpointslices: ({ spec }, name) => ({
    metadata: { name: exportedSliceName(namespace, name), namespace },
    spec: { ...spec, namespace, slice: name },
  }),
  jointokens: ({ spec }, name) => ({
    metadata: { name: name.replaceAll('-', '') },
    spec: { ...spec, expirationTime: '2999-01-01T00:00:00Z' },
  }),
  events: ({ involvedObject }) => ({
    involvedObject: { ...Object(involvedObject), namespace },
  }),
}

function ofService({ spec }: Content, name: string): Partial<KubeObject> & Content {
  return {
    metadata: { name: `${namespace}.${name}`, namespace },
    spec: { ...spec, namespace, service: name },
  }
}

/** `count` objects of one version of a kind, of which no two have the same name. */
export function objectsOf(kind: AnyKind, version: string, count: number): readonly KubeObject[] {
  const sample: Content & KubeObject = { ...sampleOf(kind, version) }
  return Array.from({ length: count }, (_, i) => {
    const name = `client-${version}-${i}`
    const metadata = kind.scope === 'Namespaced' ? { name, namespace } : { name }
    return { ...sample, metadata, ...adapted[kind.plural]?.(sample, name) }
  })
}

/** The same for all kinds, by `group/version/plural`. */
export function objectsByResource(
  kinds: readonly AnyKind[],
  count: number,
): Record<string, readonly KubeObject[]> {
  const written = kinds.filter(kind => (kind.storage ?? 'stored') === 'stored')
  return Object.fromEntries(
    written.flatMap(kind =>
      kind.versions.map(({ name }) => [`${kind.group}/${name}/${kind.plural}`, objectsOf(kind, name, count)]),
    ),
  )
}

/** As the Go program names it. */
export function resourceNames(kind: AnyKind): readonly string[] {
  return kind.versions.map(({ name }) => `${apiVersionOf(kind, name)} ${kind.plural}`)
}
