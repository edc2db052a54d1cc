import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CompiledService, RecordSet } from '../../dns/contract.ts'
import { type ImportObject, type SliceObject, serviceFacts } from '../../dns/source/facts.ts'
import { compileService, serviceKey } from '../../dns/zone/compile.ts'
import { parentOf } from '../../dns/zone/names.ts'
import type { ZoneSnapshot } from '../../dns/zone/snapshot.ts'
import { aClusterSetIp, aHeadless, aSlice } from '../support/dns-objects.ts'
import { askerOf, emptyZone, settings } from '../support/dns-zone.ts'

const keys = ['prod/web', 'prod/db', 'test/web', 'prod/a.b']
const key = fc.constantFrom(...keys)
const port = fc.constantFrom(
  'http/TCP/80',
  'dns/UDP/53',
  '/TCP/8080',
  '//',
  'x/TCP/0',
  `${'p'.repeat(63)}/TCP/9`,
)
const ports = fc.array(port, { maxLength: 3 })
const ip = fc.constantFrom('10.0.0.1', '10.0.0.2', 'fd00::1', 'fd00::2', 'None', '300.1.1.1')
const endpoint = fc
  .tuple(
    fc.constantFrom('-', 'h-0', 'h-1', 'H-0', 'a.b'),
    ip,
    fc.constantFrom('ready', 'unknown', 'notReady'),
  )
  .map(parts => parts.join(' '))
const cluster = fc.constantFrom('east', 'West', 'c1.reg', 'Bad_1', undefined)

type Import = { readonly kind: 'import'; readonly object: ImportObject }
type Slice = { readonly kind: 'slice'; readonly object: SliceObject }
type Removal = { readonly kind: 'removal'; readonly what: 'import' | 'slice'; readonly index: number }
type Event = Import | Slice | Removal

const importEvent: fc.Arbitrary<Import> = fc
  .oneof(
    fc.tuple(key, fc.array(ip, { maxLength: 2 }), ports).map(parts => aClusterSetIp(...parts)),
    key.map(name => aHeadless(name)),
  )
  .map(object => ({ kind: 'import', object }))

/** Few names, so that slices are changed, and given to other services. */
const sliceEvent: fc.Arbitrary<Slice> = fc
  .tuple(fc.nat({ max: 4 }), key, cluster, ports, fc.array(endpoint, { maxLength: 4 }))
  .map(([number, service, id, slicePorts, endpoints]) => {
    const object = aSlice(service, id, slicePorts, endpoints)
    return { kind: 'slice', object: { ...object, metadata: { ...object.metadata, name: `slice-${number}` } } }
  })

const removal: fc.Arbitrary<Removal> = fc.record({
  kind: fc.constant('removal' as const),
  what: fc.constantFrom('import', 'slice'),
  index: fc.nat({ max: 4 }),
})

const events: fc.Arbitrary<Event[]> = fc.array(fc.oneof(importEvent, sliceEvent, removal), { maxLength: 40 })

/** What the events leave, as an API server holds it. */
class World {
  readonly imports = new Map<string, ImportObject>()
  readonly slices = new Map<string, SliceObject>()

  /** The services that the event touches. */
  apply(event: Event): readonly string[] {
    if (event.kind === 'import') return this.#set(this.imports, keyOf(event.object), event.object, [])
    if (event.kind === 'slice') {
      const name = `${event.object.metadata.namespace}/${event.object.metadata.name}`
      return this.#set(this.slices, name, event.object, this.#services(name))
    }
    const objects: Map<string, unknown> = event.what === 'import' ? this.imports : this.slices
    const name = [...objects.keys()][event.index]
    if (name === undefined) return []
    const touched = event.what === 'import' ? [name] : this.#services(name)
    objects.delete(name)
    return touched
  }

  compiled(service: string): CompiledService | undefined {
    const serviceImport = this.imports.get(service)
    if (serviceImport === undefined) return undefined
    const slices = [...this.slices.values()].filter(slice => serviceOf(slice) === service)
    return compileService(serviceFacts(serviceImport, slices), settings).service
  }

  #set<T>(objects: Map<string, T>, name: string, object: T, before: readonly string[]): readonly string[] {
    objects.set(name, object)
    return objects === (this.imports as unknown) ? [name] : [...before, ...this.#services(name)]
  }

  #services(slice: string): readonly string[] {
    const object = this.slices.get(slice)
    return object === undefined ? [] : [serviceOf(object)]
  }
}

function keyOf({ metadata }: ImportObject): string {
  return serviceKey({ namespace: metadata.namespace ?? '', name: metadata.name })
}

function serviceOf({ metadata }: SliceObject): string {
  return `${metadata.namespace}/${metadata.labels?.['multicluster.kubernetes.io/service-name']}`
}

/** Zone and world after these events, taken in one by one. */
function played(sequence: readonly Event[]): { readonly zone: ZoneSnapshot; readonly world: World } {
  const zone = emptyZone()
  zone.loaded = true
  const world = new World()
  for (const event of sequence) {
    for (const service of world.apply(event)) {
      const compiled = world.compiled(service)
      zone.apply({
        serial: 1,
        put: compiled === undefined ? [] : [compiled],
        removed: compiled === undefined ? [service] : [],
      })
    }
  }
  return { zone, world }
}

/** The zone of what is left, built at once. */
function rebuilt(world: World, order: (services: string[]) => string[] = services => services): ZoneSnapshot {
  const zone = emptyZone()
  zone.loaded = true
  const services = order([...world.imports.keys()]).map(service => world.compiled(service))
  zone.apply({ serial: 1, put: services.filter(service => service !== undefined), removed: [] })
  return zone
}

const dotted = (...parts: readonly string[]): string =>
  parts.map(part => String.fromCharCode(part.length) + part).join('')

/** The name and all that it is below of. */
function lineage(name: string): readonly string[] {
  return name === '' ? [''] : [name, ...lineage(parentOf(name))]
}

/** Every name that any world can have, and its ancestors. */
function everyName(): readonly string[] {
  const hosts = ['h-0', 'h-1', '10-0-0-1', '10-0-0-2', 'fd00--1', 'fd00--2']
  const ids = [['east'], ['west'], ['c1', 'reg'], ['bad_1']]
  const below = [
    ...hosts.flatMap(host => ids.map(id => dotted(host, ...id))),
    ...[
      ['_http', '_tcp'],
      ['_dns', '_udp'],
      ['_x', '_tcp'],
    ].map(parts => dotted(...parts)),
  ]
  const services = ['web', 'db', 'a.b'].flatMap(service =>
    ['prod', 'test'].map(space => dotted(service, space, 'svc')),
  )
  const leaves = services.flatMap(service => below.map(name => name + service))
  return [...new Set(leaves.flatMap(lineage))].sort((one, other) => (one < other ? -1 : 1))
}

const names = everyName()

/** What the zone says of a name; records in the order that they are stored in. */
function dump(zone: ZoneSnapshot): readonly string[] {
  return names.flatMap(name => {
    const first = zone.find(name)
    if (first === undefined) return []
    const sets: string[] = []
    for (let set: RecordSet | undefined = first; set !== undefined; set = set.next) {
      sets.push(`${set.type}:${set.bytes.toString('hex', set.start, set.end)}`)
    }
    return [`${JSON.stringify(name)} ${sets.join(' ')}`]
  })
}

describe('a zone', () => {
  it('depends on the set of imports and slices only, not on how it came about', () => {
    fc.assert(
      fc.property(events, sequence => {
        const { zone, world } = played(sequence)
        const expected = dump(rebuilt(world))
        expect(dump(zone)).toEqual(expected)
        expect(dump(rebuilt(world, services => services.reverse()))).toEqual(expected)
        expect(zone.names).toBe(rebuilt(world).names)
      }),
      { numRuns: 300 },
    )
  })

  it('is empty again when everything is gone', () => {
    fc.assert(
      fc.property(events, sequence => {
        const { zone, world } = played(sequence)
        zone.apply({ serial: 2, put: [], removed: [...world.imports.keys()] })
        expect(dump(zone)).toEqual(dump(rebuilt(new World())))
      }),
      { numRuns: 100 },
    )
  })

  it('has every ancestor of a name that exists, so nothing below an NXDOMAIN exists (RFC 8020)', () => {
    fc.assert(
      fc.property(events, sequence => {
        const { zone } = played(sequence)
        for (const name of names) {
          if (zone.find(name) === undefined) continue
          for (const ancestor of lineage(name)) expect(zone.find(ancestor)).toBeDefined()
        }
      }),
      { numRuns: 100 },
    )
  })

  it('resolves every target that it names', () => {
    fc.assert(
      fc.property(events, sequence => {
        const { zone, world } = played(sequence)
        const asker = askerOf(zone)
        for (const service of world.imports.keys()) {
          const [namespace = '', name = ''] = service.split('/')
          const reply = asker.ask([name, namespace, 'svc', 'clusterset', 'local'], 'SRV', {
            transport: 'tcp',
          })
          const owners = new Set(reply.additional.map(record => record.split(' ')[0]))
          for (const record of reply.answer) expect(owners).toContain(record.split(' ').at(-1))
        }
        expect(asker.observer.faults).toEqual([])
      }),
      { numRuns: 100 },
    )
  })
})
