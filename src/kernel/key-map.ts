/** Where an object is. */
type Key = { readonly resource: string; readonly namespace: string; readonly name: string }

/** By the parts of keys, which are hashed already, other than one text of all three. */
export class KeyMap<T> {
  readonly #resources = new Map<string, Map<string, Map<string, T>>>()

  get({ resource, namespace, name }: Key): T | undefined {
    return this.#resources.get(resource)?.get(namespace)?.get(name)
  }

  set({ resource, namespace, name }: Key, value: T): void {
    const namespaces = this.#resources.get(resource) ?? new Map<string, Map<string, T>>()
    if (namespaces.size === 0) this.#resources.set(resource, namespaces)
    const names = namespaces.get(namespace) ?? new Map<string, T>()
    if (names.size === 0) namespaces.set(namespace, names)
    names.set(name, value)
  }

  clear(): void {
    this.#resources.clear()
  }
}
