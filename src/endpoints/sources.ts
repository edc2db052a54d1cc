import type { EndpointSlice } from '../api/kinds/endpoint-slice.ts'
import { sourceServiceOf } from '../api/source-service.ts'
import { keyOf, type Ref } from '../cluster/cluster.ts'
import type { ImportableSlice } from '../contract.ts'
import { importedSliceName } from './desired.ts'

/** Where an imported slice comes from: a slice of this cluster, or an Importable. */
export type Source =
  | { readonly type: 'own'; readonly slice: Ref; readonly service: Ref }
  | { readonly type: 'remote'; readonly importable: string; readonly cluster: string; readonly service: Ref }

/** Finds the source of an imported slice, and the imported slices of a service. Keys are `namespace/name`. */
export class SliceSources {
  readonly #cluster: string
  readonly #sources = new Map<string, Source>()
  readonly #services = new Map<string, Set<string>>()

  /** Whether every slice of this cluster has been taken in: before that, what is missing is unknown. */
  ownComplete = false
  /** Whether every slice that other members export has been taken in. */
  remoteComplete = false

  /** `cluster` is the id of this cluster. */
  constructor(cluster: string) {
    this.#cluster = cluster
  }

  get(key: string): Source | undefined {
    return this.#sources.get(key)
  }

  keysOf(service: Ref): readonly string[] {
    return [...(this.#services.get(keyOf(service)) ?? [])]
  }

  /** Slices of this cluster that hold endpoints of a service. */
  ownSlicesOf(service: Ref): readonly Ref[] {
    return this.keysOf(service).flatMap(key => {
      const source = this.#sources.get(key)
      return source?.type === 'own' ? [source.slice] : []
    })
  }

  keysIn(namespace: string): readonly string[] {
    return [...this.#sources].filter(([, s]) => s.service.namespace === namespace).map(([key]) => key)
  }

  /** Takes in a change of a slice of this cluster; answers the keys that it touches. */
  ownChanged(before: EndpointSlice | undefined, after: EndpointSlice | undefined): readonly string[] {
    return this.#changed(this.#ownEntry(before), this.#ownEntry(after))
  }

  /** Takes in a change of a slice that another member exports; answers the keys that it touches. */
  remoteChanged(before: ImportableSlice | undefined, after: ImportableSlice | undefined): readonly string[] {
    return this.#changed(remoteEntry(before), remoteEntry(after))
  }

  #changed(before: Entry | undefined, after: Entry | undefined): readonly string[] {
    if (before !== undefined && before.key !== after?.key) this.#delete(before)
    if (after !== undefined) this.#set(after)
    return [...new Set([before, after].flatMap(entry => (entry === undefined ? [] : [entry.key])))]
  }

  #ownEntry(slice: EndpointSlice | undefined): Entry | undefined {
    const service = slice && sourceServiceOf(slice)
    if (slice === undefined || service === undefined) return undefined
    const { namespace = '', name } = slice.metadata
    return {
      key: keyOf({
        namespace,
        name: importedSliceName({ cluster: this.#cluster, service, name, addressType: slice.addressType }),
      }),
      source: { type: 'own', slice: { namespace, name }, service },
    }
  }

  #set({ key, source }: Entry): void {
    const service = keyOf(source.service)
    this.#sources.set(key, source)
    this.#services.set(service, (this.#services.get(service) ?? new Set()).add(key))
  }

  #delete({ key, source }: Entry): void {
    const service = keyOf(source.service)
    this.#sources.delete(key)
    const keys = this.#services.get(service)
    keys?.delete(key)
    if (keys?.size === 0) this.#services.delete(service)
  }
}

type Entry = { readonly key: string; readonly source: Source }

function remoteEntry(slice: ImportableSlice | undefined): Entry | undefined {
  if (slice === undefined) return undefined
  const { source: cluster, spec } = slice
  const service = { namespace: spec.namespace, name: spec.service }
  const name = importedSliceName({ cluster, service, name: spec.slice, addressType: spec.addressType })
  return {
    key: keyOf({ namespace: spec.namespace, name }),
    source: { type: 'remote', importable: slice.name, cluster, service },
  }
}
