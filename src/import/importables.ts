import type { ClusterSetService } from '../api/kinds/cluster-set-service.ts'
import type { ExportedEndpointSlice } from '../api/kinds/exported-endpoint-slice.ts'
import type { Importable } from '../api/kinds/importable.ts'
import { type Change, type Informer, keyOf, type Ref } from '../cluster/cluster.ts'
import type { ImportableIndex, ImportableSlice } from '../contract.ts'

type Content =
  | { readonly type: 'service'; readonly service: Ref; readonly object: ClusterSetService }
  | { readonly type: 'slice'; readonly service: Ref; readonly slice: ImportableSlice }

export type ImportableListener = {
  /** A service came, went or changed. */
  onService(service: Ref, change: Change<ClusterSetService>): void
  onSlice(change: Change<ImportableSlice>): void
}

/** The hub's view of what this member may import, found by service. */
export class Importables implements ImportableIndex {
  readonly #informer: Informer<Importable>
  readonly #contents = new Map<string, Content>()
  readonly #services = new Map<string, ClusterSetService>()
  readonly #namespaces = new Map<string, Map<string, Ref>>()
  readonly #listeners: ImportableListener[] = []

  constructor(informer: Informer<Importable>) {
    this.#informer = informer
    informer.onChange(({ before, after }) => {
      const name = (after ?? before)?.metadata.name ?? ''
      this.#set(name, after && contentOf(after))
    })
  }

  hasSynced(): boolean {
    return this.#informer.hasSynced()
  }

  service(service: Ref): ClusterSetService | undefined {
    return this.#services.get(keyOf(service))
  }

  slice(name: string): ImportableSlice | undefined {
    const content = this.#contents.get(name)
    return content?.type === 'slice' ? content.slice : undefined
  }

  /** Services of a namespace. */
  servicesIn(namespace: string): readonly Ref[] {
    return [...(this.#namespaces.get(namespace)?.values() ?? [])]
  }

  /** Told at once of what is there, as creations, and then of every change. */
  onChange(listener: ImportableListener): void {
    for (const content of this.#contents.values()) tell(listener, undefined, content)
    this.#listeners.push(listener)
  }

  #set(name: string, after: Content | undefined): void {
    const before = this.#contents.get(name)
    if (before !== undefined) this.#unindex(name, before)
    if (after !== undefined) this.#index(name, after)
    for (const listener of this.#listeners) tell(listener, before, after)
  }

  #index(name: string, content: Content): void {
    this.#contents.set(name, content)
    if (content.type === 'slice') return
    const key = keyOf(content.service)
    const namespace = content.service.namespace ?? ''
    const refs = this.#namespaces.get(namespace) ?? new Map<string, Ref>()
    this.#services.set(key, content.object)
    this.#namespaces.set(namespace, refs.set(key, content.service))
  }

  #unindex(name: string, content: Content): void {
    this.#contents.delete(name)
    if (content.type === 'slice') return
    const key = keyOf(content.service)
    const namespace = content.service.namespace ?? ''
    const refs = this.#namespaces.get(namespace)
    this.#services.delete(key)
    refs?.delete(key)
    if (refs?.size === 0) this.#namespaces.delete(namespace)
  }
}

function tell(listener: ImportableListener, before: Content | undefined, after: Content | undefined): void {
  const now = after ?? before
  if (now?.type === 'service') {
    listener.onService(now.service, { before: serviceOf(before), after: serviceOf(after) })
  } else if (now?.type === 'slice') {
    listener.onSlice({ before: sliceOf(before), after: sliceOf(after) })
  }
}

function serviceOf(content: Content | undefined): ClusterSetService | undefined {
  return content?.type === 'service' ? content.object : undefined
}

function sliceOf(content: Content | undefined): ImportableSlice | undefined {
  return content?.type === 'slice' ? content.slice : undefined
}

/** The hub's view renders these two kinds and no others; one that a newer hub adds is passed over. */
function contentOf({ metadata, object, source = '' }: Importable): Content | undefined {
  // An object of one of the hub's own kinds, stored only when its schema had accepted it.
  const shown = object as ClusterSetService | ExportedEndpointSlice
  if (shown.kind === 'ClusterSetService') {
    const service = shown as ClusterSetService
    const { namespace, service: name } = service.spec
    return { type: 'service', service: { namespace, name }, object: service }
  }
  if (shown.kind !== 'ExportedEndpointSlice') return undefined
  const { metadata: of, spec } = shown as ExportedEndpointSlice
  const { namespace, service: name } = spec
  const slice = { name: metadata.name, source, metadata: of, spec }
  return { type: 'slice', service: { namespace, name }, slice }
}
