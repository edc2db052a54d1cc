import type { AnyKind, Kind, ObjectOfProperties } from '../../src/api/kind.ts'
import type { Properties } from '../../src/api/schema.ts'
import { errorText } from '../../src/kernel/abort.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../contract.ts'

/** Sentences about writes of one resource that take more than the object to be known. */
export type Warner = {
  readonly kind: Pick<AnyKind, 'group' | 'plural'>
  /** `old` is absent on create. */
  warn(attributes: AdmissionAttributes): readonly string[]
}

export function warnerOf<P extends Properties>(
  kind: Kind<P>,
  warn: (object: ObjectOfProperties<P>, old: ObjectOfProperties<P> | undefined) => readonly string[],
): Warner {
  return {
    kind,
    warn: ({ object, oldObject }) =>
      // Admission sees what the schema of the kind has accepted.
      object === undefined ? [] : warn(object as ObjectOfProperties<P>, oldObject as ObjectOfProperties<P>),
  }
}

/** Warns whoever writes the spec of these resources. A warner that fails fails alone. */
export function warningPlugin(warners: readonly Warner[], log: Logger): AdmissionPlugin {
  const ofResource = ({ served }: AdmissionAttributes): readonly Warner[] =>
    warners.filter(({ kind }) => kind.group === served.kind.group && kind.plural === served.kind.plural)
  return {
    name: 'Warnings',
    handles: attributes =>
      attributes.operation !== 'DELETE' && attributes.subresource === '' && ofResource(attributes).length > 0,
    async validate(attributes) {
      for (const warner of ofResource(attributes)) {
        try {
          for (const text of warner.warn(attributes)) attributes.warn(text)
        } catch (thrown) {
          log.error('warner failed', { resource: warner.kind.plural, error: errorText(thrown) })
        }
      }
    },
  }
}
