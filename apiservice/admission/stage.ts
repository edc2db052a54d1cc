/**
 * Admission: what may be written although it is allowed and valid. Plugins run in the order of the list; all that
 * mutate run before any that validate, so that a validator sees what will be stored. Reads are not its business.
 */
import type { KubeObject } from '../../src/api/meta.ts'
import type { Admission, AdmissionAttributes, AdmissionPlugin } from '../contract.ts'

export function makeAdmission(plugins: readonly AdmissionPlugin[]): Admission {
  return {
    async mutate(attributes, signal) {
      let object: KubeObject | undefined = attributes.object
      for (const plugin of plugins) {
        if (plugin.mutate === undefined) continue
        const seen: AdmissionAttributes =
          object === attributes.object ? attributes : { ...attributes, object }
        if (plugin.handles(seen)) object = (await plugin.mutate(seen, signal)) ?? object
      }
      return object
    },
    async validate(attributes, signal) {
      for (const plugin of plugins) {
        if (plugin.validate !== undefined && plugin.handles(attributes)) {
          await plugin.validate(attributes, signal)
        }
      }
    },
  }
}
