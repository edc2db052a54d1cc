import type { ObjectMeta } from '../api/meta.ts'
import type { Ref } from './cluster.ts'

/** Versions of objects are compared as numbers, as KEP-5504 allows. */
export function isLater(resourceVersion: string, than: string): boolean {
  return Number(resourceVersion) > Number(than)
}

/** Objects of one resource, by namespace and name. */
export class Copy<O extends { readonly metadata: ObjectMeta }> {
  readonly #namespaces = new Map<string, Map<string, O>>()

  get(ref: Ref): O | undefined {
    return this.#namespaces.get(ref.namespace ?? '')?.get(ref.name)
  }

  set(object: O): void {
    const { namespace = '', name } = object.metadata
    const objects = this.#namespaces.get(namespace) ?? new Map<string, O>()
    this.#namespaces.set(namespace, objects)
    objects.set(name, object)
  }

  delete(ref: Ref): void {
    const objects = this.#namespaces.get(ref.namespace ?? '')
    objects?.delete(ref.name)
    if (objects?.size === 0) this.#namespaces.delete(ref.namespace ?? '')
  }

  list(namespace?: string): readonly O[] {
    if (namespace !== undefined) return [...(this.#namespaces.get(namespace)?.values() ?? [])]
    return [...this.#namespaces.values()].flatMap(objects => [...objects.values()])
  }

  /** The one that was written last. */
  newest(): O | undefined {
    let newest: O | undefined
    for (const object of this.list()) {
      const version = object.metadata.resourceVersion ?? '0'
      if (isLater(version, newest?.metadata.resourceVersion ?? '0')) newest = object
    }
    return newest
  }
}
