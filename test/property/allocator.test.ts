// The allocator beside a plain map of who holds what, whatever is asked of it and however often it starts anew.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Allocator } from '../../src/allocate/allocator.ts'
import { type Family, familyOf } from '../../src/ip/address.ts'
import { parseCidr, sizeOf } from '../../src/ip/cidr.ts'

const blocks = ['10.7.0.0/30', 'fd07::/126', '10.8.0.0/30', 'fd08::/126'] as const

type Model = {
  readonly held: Map<string, readonly string[]>
  /** Owners whose last wish was not met. */
  readonly waiting: Set<string>
  cidrs: readonly string[]
}

type Real = { allocator: Allocator; told: string[] }

function opened(cidrs: readonly string[]): Real {
  const real: Real = { allocator: new Allocator(cidrs), told: [] }
  real.allocator.onFree(owner => real.told.push(owner))
  return real
}

/** What addresses of a block begin with. */
const blockOf = (cidr: string): string => cidr.slice(0, cidr.startsWith('fd') ? 4 : 5)

const holderOf = ({ held }: Model, ip: string): string | undefined =>
  [...held].find(([, ips]) => ips.includes(ip))?.[0]

const addressesOf = (model: Model, owner: string): readonly string[] => model.held.get(owner) ?? []

/** How many addresses of a family the blocks have: all but the first, and in IPv4 the last. */
function sizeOfAll({ cidrs }: Model, family: Family): number {
  const sizes = cidrs
    .map(parseCidr)
    .filter(cidr => cidr?.family === family)
    .map(cidr => (cidr === undefined ? 0 : Number(sizeOf(cidr)) - (family === 'IPv4' ? 2 : 1)))
  return sizes.reduce((sum, size) => sum + size, 0)
}

class Assign implements fc.Command<Model, Real> {
  readonly owner: string
  readonly families: readonly Family[]
  readonly requested: readonly string[]

  constructor(owner: string, families: readonly Family[], requested: readonly string[]) {
    this.owner = owner
    this.families = families
    this.requested = requested
  }

  check = (): boolean => true

  run(model: Model, { allocator }: Real): void {
    const before = addressesOf(model, this.owner)
    const { addresses, ips, problem } = allocator.assign(this.owner, this.families, this.requested)
    expect(addresses).toEqual(expect.arrayContaining([...before]))
    for (const family of this.families) this.#expectOne(model, family, addresses)
    for (const ip of addresses) expect([undefined, this.owner]).toContain(holderOf(model, ip))
    expect(ips.map(familyOf)).toEqual(this.families.filter(f => ips.some(ip => familyOf(ip) === f)))
    if (ips.length < this.families.length && ips.length === 0) expect(problem).toBeDefined()
    if (addresses.length > 0) model.held.set(this.owner, addresses)
    const hasPool = (family: Family): boolean => sizeOfAll(model, family) > 0
    const missing = this.families.filter(f => !ips.some(ip => familyOf(ip) === f))
    const asks = (family: Family): boolean => this.requested.some(ip => familyOf(ip) === family)
    if (missing.some(f => hasPool(f) || asks(f))) model.waiting.add(this.owner)
    else model.waiting.delete(this.owner)
  }

  #expectOne(model: Model, family: Family, addresses: readonly string[]): void {
    const had = addressesOf(model, this.owner).find(ip => familyOf(ip) === family)
    const wanted = this.requested.find(ip => familyOf(ip) === family)
    const got = addresses.find(ip => familyOf(ip) === family)
    if (had !== undefined) return
    if (wanted !== undefined) {
      expect([undefined, wanted]).toContain(got)
      return
    }
    const inPool = [...model.held.values()]
      .flat()
      .filter(ip => familyOf(ip) === family && this.#isIn(model, ip))
    expect(got !== undefined).toBe(inPool.length < sizeOfAll(model, family))
  }

  #isIn({ cidrs }: Model, ip: string): boolean {
    return cidrs.some(cidr => ip.startsWith(blockOf(cidr)))
  }

  toString(): string {
    return `assign(${this.owner}, ${this.families.join('+')}, ${this.requested.join('+')})`
  }
}

class Release implements fc.Command<Model, Real> {
  readonly owner: string

  constructor(owner: string) {
    this.owner = owner
  }

  check = (): boolean => true

  run(model: Model, real: Real): void {
    real.told.length = 0
    model.waiting.delete(this.owner)
    const freed = addressesOf(model, this.owner).length > 0
    real.allocator.release(this.owner)
    model.held.delete(this.owner)
    expect(new Set(real.told)).toEqual(freed ? model.waiting : new Set())
    expect(real.allocator.holds(this.owner)).toBe(false)
  }

  toString(): string {
    return `release(${this.owner})`
  }
}

/** The hub starts anew, with what was written down, and with these blocks: more, fewer or others. */
class Restart implements fc.Command<Model, Real> {
  readonly cidrs: readonly string[]

  constructor(cidrs: readonly string[]) {
    this.cidrs = cidrs
  }

  check = (): boolean => true

  run(model: Model, real: Real): void {
    model.cidrs = this.cidrs
    model.waiting.clear()
    Object.assign(real, opened(this.cidrs))
    for (const [owner, addresses] of model.held) real.allocator.adopt(owner, addresses)
    for (const [owner, addresses] of model.held) {
      expect(real.allocator.assign(owner, [], []).addresses).toEqual(addresses)
    }
  }

  toString(): string {
    return `restart(${this.cidrs.join(' ')})`
  }
}

/** Other blocks while the hub runs: nobody loses an address, and whoever waits is told. */
class Resize implements fc.Command<Model, Real> {
  readonly cidrs: readonly string[]

  constructor(cidrs: readonly string[]) {
    this.cidrs = cidrs
  }

  check = (): boolean => true

  run(model: Model, { allocator, told }: Real): void {
    told.length = 0
    model.cidrs = this.cidrs
    allocator.setBlocks(this.cidrs)
    expect(new Set(told)).toEqual(model.waiting)
    expect(new Set(allocator.blocks)).toEqual(new Set(this.cidrs))
    const isInside = (ip: string): boolean => this.cidrs.some(cidr => ip.startsWith(blockOf(cidr)))
    const outside = [...model.held].filter(([, ips]) => !ips.every(isInside)).map(([owner]) => owner)
    expect(new Set(allocator.outside)).toEqual(new Set(outside))
    for (const [owner, addresses] of model.held) {
      expect(allocator.assign(owner, [], []).addresses).toEqual(addresses)
      model.waiting.delete(owner)
    }
  }

  toString(): string {
    return `resize(${this.cidrs.join(' ')})`
  }
}

describe('the allocator, whatever is asked', () => {
  const owners = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
  const requested = fc.subarray(['10.7.0.1', '10.8.0.2', '10.9.0.1', 'fd07::1', 'fd09::1'], { maxLength: 2 })
  const families = fc.shuffledSubarray<Family>(['IPv4', 'IPv6'])
  const commands = fc.commands(
    [
      fc.tuple(owners, families).map(([owner, wanted]) => new Assign(owner, wanted, [])),
      fc.tuple(owners, families, requested).map(([owner, wanted, ips]) => new Assign(owner, wanted, ips)),
      owners.map(owner => new Release(owner)),
      fc.subarray([...blocks]).map(cidrs => new Restart(cidrs)),
      fc.subarray([...blocks]).map(cidrs => new Resize(cidrs)),
    ],
    { maxCommands: 60, size: 'max' },
  )

  it('holds what a map would hold, and is rebuilt from it', () => {
    fc.assert(
      fc.property(commands, list => {
        const model: Model = { held: new Map(), waiting: new Set(), cidrs: blocks }
        fc.modelRun(() => ({ model, real: opened(blocks) }), list)
        const all = [...model.held.values()].flat()
        expect(new Set(all).size).toBe(all.length)
      }),
      { numRuns: 1_000 },
    )
  })
})
