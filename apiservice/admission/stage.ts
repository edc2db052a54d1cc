/**
 * Admission: what may be written although it is allowed and valid. Plugins run in the order of the list; all that
 * mutate run before any that validate, so that a validator sees what will be stored. Reads are not its business.
 */
import type { KubeObject } from '../../src/api/meta.ts'
import type { Admission, AdmissionAttributes, AdmissionPlugin } from '../contract.ts'

export function makeAdmission(plugins: readonly AdmissionPlugin[]): Admission {
  const mutating = plugins.filter(plugin => plugin.mutate !== undefined)
  const validating = plugins.filter(plugin => plugin.validate !== undefined)
  return {
    // What none of them changes is what each of them sees.
    mutate: (attributes, signal) =>
      areAsked(mutating, attributes) ? mutated(mutating, attributes, signal) : attributes.object,
    validate: (attributes, signal) => validated(validating, attributes, signal),
  }
}

function areAsked(plugins: readonly AdmissionPlugin[], attributes: AdmissionAttributes): boolean {
  for (const plugin of plugins) if (plugin.handles(attributes)) return true
  return false
}

async function mutated(
  plugins: readonly AdmissionPlugin[],
  attributes: AdmissionAttributes,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  let { object } = attributes
  for (const plugin of plugins) {
    const seen: AdmissionAttributes = object === attributes.object ? attributes : { ...attributes, object }
    if (plugin.handles(seen)) object = (await plugin.mutate?.(seen, signal)) ?? object
  }
  return object
}

function validated(
  plugins: readonly AdmissionPlugin[],
  attributes: AdmissionAttributes,
  signal: AbortSignal,
  first = 0,
): void | Promise<void> {
  for (let at = first; at < plugins.length; at++) {
    const plugin = plugins[at]
    const validating = plugin?.handles(attributes) ? plugin.validate?.(attributes, signal) : undefined
    if (validating instanceof Promise)
      return validating.then(() => validated(plugins, attributes, signal, at + 1))
  }
}
