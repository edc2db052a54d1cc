import { hash } from 'node:crypto'
import { base32Hex } from '../kernel/short-hash.ts'

const prefix = 'derived-'

/**
 * The Service of a cluster that routes the address of a ServiceImport, named as the reference controllers of mcs-api name
 * it: whoever knows those finds it.
 */
export function derivedServiceName({
  namespace,
  name,
}: {
  readonly namespace?: string
  readonly name: string
}): string {
  return `${prefix}${base32Hex(hash('sha256', `${namespace ?? ''}/${name}`, 'buffer'), 10)}`
}

/** Whether a Service of this name may stand in the place of a derived one. */
export function isDerivedName(name: string): boolean {
  return name.startsWith(prefix)
}
