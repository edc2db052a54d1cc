import type { ServicePort, ServiceSpec } from '../../src/api/service/schema.ts'
import type { Family } from '../../src/ip/address.ts'
import { internal, invalid, type StatusError } from '../../src/kernel/errors.ts'
import { invalidValue } from '../../src/kernel/field-error.ts'
import type { Refusal, ServiceLedger } from './service-ledger.ts'
import { familiesOf, hasClusterIp, hasHealthPort, hasNodePorts, isHeadless } from './service-spec.ts'

type Write = {
  readonly owner: string
  readonly name: string
  /** Absent on create. */
  readonly old: ServiceSpec | undefined
}

/** The addresses and ports that one write of a Service needs. After a throw the caller gives back what was reserved. */
export class ServiceAllocation {
  readonly #ledger: ServiceLedger
  readonly #write: Write
  readonly #held: ReadonlySet<string>
  readonly #reserved: string[] = []

  constructor(ledger: ServiceLedger, write: Write) {
    this.#ledger = ledger
    this.#write = write
    const { clusterIPs = [], ports = [], healthCheckNodePort } = write.old ?? {}
    const oldPorts = [healthCheckNodePort, ...ports.map(port => port.nodePort)]
    this.#held = new Set([...clusterIPs, ...oldPorts.filter(port => port !== undefined).map(String)])
  }

  /** The spec with what it lacks. Throws 422 for an address or port that cannot be had, 500 when none is left. */
  complete(spec: ServiceSpec): ServiceSpec {
    return this.#withHealthPort(this.#withNodePorts(this.#withAddresses(spec)))
  }

  giveBack(): void {
    for (const addressOrPort of this.#reserved) this.#ledger.giveBack(addressOrPort)
  }

  #withAddresses(spec: ServiceSpec): ServiceSpec {
    if (!hasClusterIp(spec) || isHeadless(spec)) return spec
    const named = spec.clusterIPs ?? []
    const clusterIPs = familiesOf(spec).map((family, i) => this.#address(family, named[i] ?? '', named))
    return { ...spec, ...(clusterIPs[0] === undefined ? {} : { clusterIP: clusterIPs[0] }), clusterIPs }
  }

  #address(family: Family, named: string, all: readonly string[]): string {
    if (named !== '' && this.#held.has(named)) return named
    if (named === '') {
      const taken = this.#ledger.takeAddress(family, this.#write.owner)
      if (taken === undefined) throw internal('failed to allocate a serviceIP: range is full')
      this.#reserved.push(taken)
      return taken
    }
    const refusal = this.#ledger.claimAddress(family, named, this.#write.owner)
    if (refusal !== undefined) {
      const why = `failed to allocate IP ${named}: ${addressText(refusal, named, this.#ledger.rangeOf(family))}`
      throw this.#invalid('spec.clusterIPs', all, why)
    }
    this.#reserved.push(named)
    return named
  }

  #withNodePorts(spec: ServiceSpec): ServiceSpec {
    if (!hasNodePorts(spec)) return spec
    const isFree = spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false
    const given = new Map<number, number>()
    for (const [i, { port, nodePort = 0 }] of (spec.ports ?? []).entries()) {
      if (nodePort === 0) continue
      this.#claimPort(nodePort, `spec.ports[${i}].nodePort`)
      given.set(port, nodePort)
    }
    const ports = (spec.ports ?? []).map(each =>
      each.nodePort || isFree ? each : this.#withNodePort(each, given),
    )
    return { ...spec, ports }
  }

  /** One port number for two protocols gets one node port. */
  #withNodePort(port: ServicePort, given: Map<number, number>): ServicePort {
    const nodePort = given.get(port.port) ?? this.#takePort('failed to allocate a nodePort')
    given.set(port.port, nodePort)
    return { ...port, nodePort }
  }

  #withHealthPort(spec: ServiceSpec): ServiceSpec {
    if (!hasHealthPort(spec)) return spec
    const { healthCheckNodePort: named = 0 } = spec
    if (named !== 0) this.#claimPort(named, 'spec.healthCheckNodePort')
    const port = named === 0 ? this.#takePort('failed to allocate a HealthCheck NodePort') : named
    return { ...spec, healthCheckNodePort: port }
  }

  #claimPort(port: number, field: string): void {
    const token = String(port)
    if (this.#held.has(token) || this.#reserved.includes(token)) return
    const refusal = this.#ledger.claimPort(port, this.#write.owner)
    if (refusal === undefined) this.#reserved.push(token)
    else throw this.#invalid(field, port, portText(refusal, this.#ledger.portRange))
  }

  #takePort(failure: string): number {
    const port = this.#ledger.takePort(this.#write.owner)
    if (port === undefined) throw internal(`${failure}: range is full`)
    this.#reserved.push(String(port))
    return port
  }

  #invalid(field: string, value: unknown, why: string): StatusError {
    return invalid({ group: '', kind: 'Service' }, this.#write.name, [invalidValue(field, value, why)])
  }
}

function addressText(refusal: Refusal, ip: string, range: string): string {
  if (refusal === 'taken') return 'provided IP is already allocated'
  return `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${range}`
}

function portText(refusal: Refusal, range: string): string {
  if (refusal === 'taken') return 'provided port is already allocated'
  return `provided port is not in the valid range. The range of valid ports is ${range}`
}
