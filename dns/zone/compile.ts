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

export type Compiled = { readonly service: CompiledService; readonly problems: readonly Problem[] }

type Host = { readonly name: string; readonly address: string; readonly record: AddressRecord }

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
  readonly #ttlSeconds: number
  /** The zone in wire form: what every target ends with. */
  readonly #origin: string
  readonly #owners = new Owners()
  readonly #problems: Problem[] = []

  constructor(facts: ServiceFacts, settings: ZoneSettings) {
    this.#facts = facts
    this.#ttlSeconds = settings.ttlSeconds
    this.#origin = wireName(settings.origin).toString('latin1')
  }

  run(): Compiled {
    const { namespace, name, type } = this.#facts
    const service = toLabel(name)
    const space = toLabel(namespace)
    if (service === undefined || space === undefined) {
      this.#report('service-name', name)
      return this.#compiled([])
    }
    const owner = nameOf(service, space, 'svc')
    if (!this.#fits(owner)) {
      this.#report('name-too-long', name)
      return this.#compiled([])
    }
    // The namespace exists while it holds an import, even one without records.
    const pins = [nameOf(space, 'svc')]
    if (type === 'ClusterSetIP') {
      pins.push(owner)
      this.#clusterSetIp(owner)
    } else for (const slice of this.#facts.slices) this.#slice(owner, slice)
    return this.#compiled(pins)
  }

  #compiled(pins: readonly string[]): Compiled {
    return { service: this.#owners.compile(serviceKey(this.#facts), pins), problems: this.#problems }
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
    const record = addressRecord(address, this.#ttlSeconds)
    if (record === undefined) this.#report('address', address)
    return record
  }

  /** SRV for `target` at the service's own name for every port, and at `_port._protocol` for those that have a name. */
  #ports(owner: string, target: string, ports: readonly PortFacts[]): void {
    for (const { name, protocol, port } of ports) {
      if (!Number.isInteger(port) || port < 1 || port > 65_535) {
        this.#report('port-number', name)
        continue
      }
      const record = serviceRecord(port, target + this.#origin, this.#ttlSeconds)
      this.#owners.add(owner, rrType.srv, record)
      if (name !== '') this.#namedPort(owner, { name, protocol }, record)
    }
  }

  #namedPort(
    owner: string,
    port: { readonly name: string; readonly protocol: string },
    record: string,
  ): void {
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

  #slice(owner: string, slice: SliceFacts): void {
    const cluster = clusterLabels(slice.cluster)
    if (cluster === undefined) this.#report('cluster-id', slice.cluster)
    for (const endpoint of slice.endpoints) {
      const host = this.#hostname(endpoint)
      for (const address of endpoint.addresses) {
        const record = this.#address(address)
        if (record === undefined) continue
        this.#owners.add(owner, record.type, record.record)
        if (cluster === undefined) continue
        const name = nameOf(host ?? dashedAddress(address), ...cluster) + owner
        this.#host(owner, { name, address, record }, slice.ports)
      }
    }
  }

  #hostname(endpoint: EndpointFacts): string | undefined {
    if (endpoint.hostname === '') return undefined
    const label = toLabel(endpoint.hostname)
    if (label === undefined) this.#report('hostname', endpoint.hostname)
    return label
  }

  #host(owner: string, { name, address, record }: Host, ports: readonly PortFacts[]): void {
    if (!this.#fits(name)) {
      this.#report('name-too-long', address)
      return
    }
    this.#owners.add(name, record.type, record.record)
    this.#ports(owner, name, ports)
  }
}
