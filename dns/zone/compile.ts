/**
 * One service → its records (Multi-Cluster DNS specification 1.0.0 in KEP-1645). Pure: the same facts give the same
 * records, and what cannot become a record loses only itself and is named among the problems.
 */
import {
  type CompiledService,
  type EndpointFacts,
  type PortFacts,
  type Problem,
  type ProblemReason,
  rrType,
  type ServiceFacts,
  type ServiceKey,
  type SliceFacts,
  type ZoneSettings,
} from '../contract.ts'
import { type AddressRecord, addressRecord, serviceRecord } from './encode.ts'
import { clusterLabels, dashedAddress, maxNameOctets, nameOf, toLabel, wireName } from './names.ts'
import { Owners } from './owners.ts'
import { compilePointers } from './pointers.ts'
import { type Chosen, chooseEndpoints } from './subset.ts'

export type Compiled = {
  readonly service: CompiledService
  /** What it has in each reverse zone. */
  readonly reverse: readonly CompiledService[]
  readonly problems: readonly Problem[]
}

type Port = Pick<PortFacts, 'name' | 'protocol'>

/** Where the records of a slice go. */
type Place = {
  readonly owner: string
  readonly cluster: readonly string[] | undefined
  readonly chosen: Chosen
}

/** More problems of one service than these say nothing new. */
const maxProblems = 16

/** `_` stands before a port's name in its label. */
const maxPortNameOctets = 62

export function serviceKey(facts: { readonly namespace: string; readonly name: string }): ServiceKey {
  return `${facts.namespace}/${facts.name}`
}

export function compileService(facts: ServiceFacts, settings: ZoneSettings): Compiled {
  const compilation = new Compilation(facts, settings)
  return compilation.run()
}

class Compilation {
  readonly #facts: ServiceFacts
  readonly #settings: ZoneSettings
  /** The zone in wire form: what every target ends with. */
  readonly #origin: string
  readonly #owners = new Owners()
  readonly #problems: Problem[] = []

  constructor(facts: ServiceFacts, settings: ZoneSettings) {
    this.#facts = facts
    this.#settings = settings
    this.#origin = wireName(settings.origin).toString('latin1')
  }

  run(): Compiled {
    const { namespace, name, type } = this.#facts
    const service = toLabel(name)
    const space = toLabel(namespace)
    if (service === undefined || space === undefined) {
      this.#report('service-name', name)
      return this.#compiled(undefined, [])
    }
    const owner = nameOf(service, space, 'svc')
    if (!this.#fits(owner)) {
      this.#report('name-too-long', name)
      return this.#compiled(undefined, [])
    }
    // The namespace exists while it holds an import, even one without records.
    const pins = [nameOf(space, 'svc')]
    if (type === 'ClusterSetIP') {
      pins.push(owner)
      this.#clusterSetIp(owner)
    }
    this.#slices(owner)
    return this.#compiled(owner, pins)
  }

  #compiled(owner: string | undefined, pins: readonly string[]): Compiled {
    const key = serviceKey(this.#facts)
    const service = this.#owners.compile({ zone: 0, key }, pins)
    const target = owner === undefined ? undefined : owner + this.#origin
    return {
      service,
      reverse: compilePointers(this.#facts, target, this.#settings),
      problems: this.#problems,
    }
  }

  #report(reason: ProblemReason, subject: string): void {
    const known = this.#problems.some(problem => problem.reason === reason && problem.subject === subject)
    if (!known && this.#problems.length < maxProblems) this.#problems.push({ reason, subject })
  }

  #fits(name: string): boolean {
    return name.length + this.#origin.length <= maxNameOctets
  }

  #clusterSetIp(owner: string): void {
    const records = this.#facts.ips.map(ip => this.#address(ip)).filter(record => record !== undefined)
    for (const { type, record } of records) this.#owners.add(owner, type, record)
    // Without an address the name exists and has nothing, so a target would lead nowhere.
    if (records.length > 0) this.#ports(owner, owner, this.#facts.ports)
  }

  #address(address: string): AddressRecord | undefined {
    const record = addressRecord(address, this.#settings.ttlSeconds)
    if (record === undefined) this.#report('address', address)
    return record
  }

  #addresses({ addresses }: EndpointFacts): readonly (AddressRecord & { readonly address: string })[] {
    return addresses.flatMap(address => {
      const record = this.#address(address)
      return record === undefined ? [] : [{ ...record, address }]
    })
  }

  /**
   * SRV for `target`: at its own name, as CoreDNS has it, at the service's name for every port, and at `_port._protocol`
   * for those that have a name. `owner` is undefined where the service's name does not answer with the target.
   */
  #ports(owner: string | undefined, target: string, ports: readonly PortFacts[]): void {
    for (const { name, protocol, port } of ports) {
      if (!Number.isInteger(port) || port < 1 || port > 65_535) {
        this.#report('port-number', name)
        continue
      }
      const record = serviceRecord(port, target + this.#origin, this.#settings.ttlSeconds)
      this.#owners.add(target, rrType.srv, record)
      if (owner === undefined) continue
      this.#owners.add(owner, rrType.srv, record)
      if (name !== '') this.#namedPort(owner, { name, protocol }, record)
    }
  }

  #namedPort(owner: string, port: Port, record: string): void {
    const label = toLabel(port.name)
    const protocol = toLabel(port.protocol)
    if (label === undefined || label.length > maxPortNameOctets || protocol === undefined) {
      this.#report('port-name', port.name)
      return
    }
    const name = nameOf(`_${label}`, `_${protocol}`) + owner
    if (this.#fits(name)) this.#owners.add(name, rrType.srv, record)
    else this.#report('name-too-long', port.name)
  }

  #slices(owner: string): void {
    const { slices, type, perCluster } = this.#facts
    const chosen = chooseEndpoints(slices, this.#settings.maxEndpoints)
    for (const slice of slices) {
      const cluster = clusterLabels(slice.cluster)
      if (cluster === undefined) this.#report('cluster-id', slice.cluster)
      if (type === 'Headless') this.#slice({ owner, cluster, chosen }, slice)
      if (perCluster && cluster !== undefined) this.#cluster(nameOf(...cluster) + owner, chosen, slice)
    }
  }

  #slice(place: Place, slice: SliceFacts): void {
    for (const endpoint of slice.endpoints) {
      const host = this.#hostname(endpoint)
      const owner = place.chosen(slice, endpoint) ? place.owner : undefined
      for (const record of this.#addresses(endpoint)) {
        if (owner !== undefined) this.#owners.add(owner, record.type, record.record)
        const name = this.#hostName(place, host ?? dashedAddress(record.address), record.address)
        if (name !== undefined) this.#host(owner, { name, record }, slice.ports)
      }
    }
  }

  #host(
    owner: string | undefined,
    { name, record: { type, record } }: { readonly name: string; readonly record: AddressRecord },
    ports: readonly PortFacts[],
  ): void {
    this.#owners.add(name, type, record)
    this.#ports(owner, name, ports)
  }

  /** Undefined where an endpoint cannot have a name of its own. */
  #hostName({ owner, cluster }: Place, host: string, address: string): string | undefined {
    if (cluster === undefined) return undefined
    const name = nameOf(host, ...cluster) + owner
    if (this.#fits(name)) return name
    this.#report('name-too-long', address)
    return undefined
  }

  /** The name of one cluster's part of the service, where it is wanted. */
  #cluster(name: string, chosen: Chosen, slice: SliceFacts): void {
    if (!this.#fits(name)) {
      this.#report('name-too-long', slice.cluster)
      return
    }
    for (const endpoint of slice.endpoints) {
      if (slice.standby !== true && !chosen(slice, endpoint)) continue
      for (const { type, record } of this.#addresses(endpoint)) this.#owners.add(name, type, record)
    }
    if (this.#owners.has(name)) this.#ports(name, name, slice.ports)
  }

  #hostname(endpoint: EndpointFacts): string | undefined {
    if (endpoint.hostname === '') return undefined
    const label = toLabel(endpoint.hostname)
    if (label === undefined) this.#report('hostname', endpoint.hostname)
    return label
  }
}
