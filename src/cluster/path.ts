import type { Resource } from './cluster.ts'

/** `/apis/<group>/<version>/namespaces/<ns>/<plural>/<name>/<subresource>`, as far as it is known. */
export function resourcePath(
  resource: Resource<unknown>,
  ref: { readonly namespace?: string | undefined; readonly name?: string },
  subresource = '',
): string {
  const root = resource.group === '' ? '/api' : `/apis/${resource.group}`
  const inNamespace = resource.namespaced && ref.namespace !== undefined && ref.namespace !== ''
  const steps = [
    ...(inNamespace ? ['namespaces', ref.namespace ?? ''] : []),
    resource.plural,
    ...(ref.name === undefined ? [] : [ref.name]),
    ...(subresource === '' ? [] : [subresource]),
  ]
  return `${root}/${resource.version}/${steps.map(encodeURIComponent).join('/')}`
}

export function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString()
  return text === '' ? path : `${path}?${text}`
}
