/** What every zone holds, whatever is imported: its apex, its name server, the version of the schema, and `svc`. */
import { type CompiledService, rrType, type ZoneSettings } from '../contract.ts'
import { addressRecord, nameServerRecord, textRecord } from './encode.ts'
import { nameOf } from './names.ts'
import { Owners } from './owners.ts'

/** The version of the Multi-Cluster DNS schema, and the TTL that it shows. */
const schemaVersion = '1.0.0'
const schemaVersionTtlSeconds = 28_800

/** No service has this key. */
const fixedKey = ''

const apexName = ''
const nameServerName = nameOf('ns', 'dns')
const versionName = nameOf('dns-version')
/** Exists in an empty zone too, so that nobody caches NXDOMAIN over all services (RFC 8020). */
const servicesName = nameOf('svc')

/** Of all zones. Throws a RangeError when a setting cannot be encoded. */
export function compileFixed(settings: ZoneSettings): readonly CompiledService[] {
  return [settings.origin, ...settings.reverseZones].map((origin, zone) =>
    compileZone({ ...settings, origin }, zone),
  )
}

function compileZone(settings: ZoneSettings, zone: number): CompiledService {
  const owners = new Owners()
  for (const address of settings.nameServerAddresses) {
    const record = addressRecord(address, settings.ttlSeconds)
    if (record === undefined) throw new RangeError(`${JSON.stringify(address)} is not an IP address`)
    owners.add(nameServerName, record.type, record.record)
  }
  owners.add(apexName, rrType.ns, nameServerRecord(`ns.dns.${settings.origin}`, settings.ttlSeconds))
  if (zone > 0) return owners.compile({ zone, key: fixedKey }, [nameServerName])
  owners.add(versionName, rrType.txt, textRecord(schemaVersion, schemaVersionTtlSeconds))
  return owners.compile({ zone, key: fixedKey }, [servicesName, nameServerName])
}
