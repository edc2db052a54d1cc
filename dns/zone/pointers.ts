import { type CompiledService, rrType, type ServiceFacts, type ZoneSettings } from '../contract.ts'
import { pointerRecord } from './encode.ts'
import { nameOf } from './names.ts'
import { Owners } from './owners.ts'
import { reverseName } from './reverse.ts'

/**
 * What a service has in each reverse zone: PTR of its ClusterSetIPs that lie there. Endpoints have none. `target` is the
 * service's name in wire form; undefined when it has none.
 */
export function compilePointers(
  { namespace, name, ips }: ServiceFacts,
  target: string | undefined,
  { reverseZones, ttlSeconds }: ZoneSettings,
): readonly CompiledService[] {
  const names = target === undefined ? [] : ips.map(reverseName).filter(found => found !== undefined)
  return reverseZones.map((origin, at) => {
    const pointers = new Owners()
    for (const found of names) {
      const name = relativeName(found, origin)
      if (target !== undefined && name !== undefined)
        pointers.add(name, rrType.ptr, pointerRecord(target, ttlSeconds))
    }
    return pointers.compile({ zone: at + 1, key: `${namespace}/${name}` }, [])
  })
}

/** Undefined outside of the zone. The zone of a block of one address has it at its apex. */
function relativeName(found: string, origin: string): string | undefined {
  if (found === origin) return ''
  const suffix = `.${origin}`
  return found.endsWith(suffix) ? nameOf(...found.slice(0, -suffix.length).split('.')) : undefined
}
