/** A zone made of API objects, and a responder over it, without sockets and threads. */
import { Chain } from '../../dns/chain.ts'
import type {
  CompiledService,
  Decision,
  Observer,
  Origin,
  Query,
  Random,
  Transport,
  ZoneSettings,
} from '../../dns/contract.ts'
import { serviceFacts, serviceNameLabel } from '../../dns/source/facts.ts'
import { type Compiled, compileService } from '../../dns/zone/compile.ts'
import { compileFixed } from '../../dns/zone/fixed.ts'
import { ZoneSnapshot } from '../../dns/zone/snapshot.ts'
import { Zones } from '../../dns/zone/zones.ts'
import { type Ask, question, type Shown, shown } from './dns-message.ts'
import type { Objects } from './dns-objects.ts'

export const settings: ZoneSettings = {
  origin: 'clusterset.local',
  ttlSeconds: 5,
  negativeTtlSeconds: 5,
  nameServerAddresses: ['10.96.0.53'],
  maxEndpoints: 4000,
  reverseZones: [],
}

/** Every service of these objects, compiled. */
export function compiledServices(
  { imports, slices }: Objects,
  of: ZoneSettings = settings,
): readonly Compiled[] {
  return imports.map(serviceImport => {
    const { namespace, name } = serviceImport.metadata
    const own = slices.filter(
      slice => slice.metadata.namespace === namespace && slice.metadata.labels?.[serviceNameLabel] === name,
    )
    return compileService(serviceFacts(serviceImport, own), of)
  })
}

export function emptyZone(of: ZoneSettings = settings): ZoneSnapshot {
  const zone = new ZoneSnapshot(of)
  put(zone, compileFixed(of).slice(0, 1))
  return zone
}

export function put(zone: ZoneSnapshot, services: readonly CompiledService[]): void {
  zone.apply({ serial: 1, put: services, removed: [] })
}

export function loadedZone(objects: Objects, of: ZoneSettings = settings): ZoneSnapshot {
  const zone = emptyZone(of)
  put(
    zone,
    compiledServices(objects, of).map(compiled => compiled.service),
  )
  zone.loaded = true
  return zone
}

/** With the reverse zones of the settings. */
export function loadedZones(objects: Objects, of: ZoneSettings): readonly ZoneSnapshot[] {
  const zones = new Zones(of)
  const compiled = compiledServices(objects, of).flatMap(({ service, reverse }) => [service, ...reverse])
  zones.apply({ serial: 1, put: [...compileFixed(of), ...compiled], removed: [] })
  zones.loaded()
  return zones.all
}

/** A client that may be sent as much as any. */
export function originOf(transport: Transport): Origin {
  return { transport, address: '127.0.0.1', port: 5353, octets: transport === 'udp' ? 1232 : 65_535 }
}

export type Seen = { transport: Transport; type: number; rcode: number; truncated: boolean }

/** Keeps what it is told. */
export function recordingObserver(): Observer & {
  readonly seen: Seen[]
  readonly faults: unknown[]
  drops: number
} {
  const seen: Seen[] = []
  const faults: unknown[] = []
  return {
    seen,
    faults,
    drops: 0,
    begin: () => undefined,
    end: () => undefined,
    answered: (query: Query, decision: Decision, reply, { transport }) => {
      seen.push({ transport, type: query.type, rcode: decision.rcode, truncated: reply.truncated })
    },
    dropped() {
      this.drops++
    },
    fault: thrown => {
      faults.push(thrown)
    },
  }
}

export type Asker = {
  readonly chain: Chain
  readonly observer: ReturnType<typeof recordingObserver>
  /** The reply's octets, undefined when nothing is said. */
  raw(message: Buffer, transport?: Transport): Buffer | undefined
  ask(name: string | readonly string[], type: string, how?: Ask & { readonly transport?: Transport }): Shown
}

export function askerOf(
  zone: ZoneSnapshot | readonly ZoneSnapshot[],
  options: { readonly nsid?: Buffer; readonly random?: Random } = {},
): Asker {
  const observer = recordingObserver()
  const chain = new Chain({
    zones: [zone].flat(),
    nsid: options.nsid,
    random: options.random ?? Math.random,
    observer,
  })
  const raw: Asker['raw'] = (message, transport = 'udp') => {
    const octets = chain.respond(message, originOf(transport))
    return octets === 0 ? undefined : Buffer.from(chain.bytes.subarray(0, octets))
  }
  return {
    chain,
    observer,
    raw,
    ask(name, type, how = {}) {
      const reply = raw(question(name, type, how), how.transport)
      if (reply === undefined) throw new Error('no reply')
      return shown(reply)
    },
  }
}
