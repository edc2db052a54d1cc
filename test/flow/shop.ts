// What people do in a ClusterSet and see of it, in sentences.
import { Resolver } from 'node:dns/promises'
import { expect } from 'vitest'
import { eventually } from '../support/eventually.ts'
import {
  namespaces,
  serviceExports,
  serviceImports,
  services,
  slices,
  textOf,
} from '../support/memory-fleet.ts'
import { headless, service, serviceExport, slice } from '../support/shop.ts'
import { type Deployment, type Member, members } from './deployment.ts'

/** For one request. */
export const signal = (): AbortSignal => AbortSignal.timeout(20_000)
export const name = (service: string): string => `${service}.shop.svc.clusterset.local`

export class Shop {
  readonly #deployment: Pick<Deployment, 'client' | 'dnsPort'>

  constructor(deployment: Pick<Deployment, 'client' | 'dnsPort'>) {
    this.#deployment = deployment
  }

  async open(member: Member): Promise<void> {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
    await this.#deployment.client(member).create(namespaces, object, signal())
  }

  async export(
    member: Member,
    what: string,
    {
      addresses,
      port = 80,
      isHeadless = false,
      hostname,
    }: {
      readonly addresses: readonly string[]
      readonly port?: number
      readonly isHeadless?: boolean
      readonly hostname?: string
    },
  ): Promise<void> {
    const client = this.#deployment.client(member)
    const { clusterIP: _clusterIP, ...spec } = service().spec ?? {}
    const ports = [{ name: 'http', protocol: 'TCP', port }]
    const wanted = { ...service(what), spec: { ...spec, ports, ...(isHeadless ? headless : {}) } }
    await client.create(services, wanted, signal())
    const endpoints = addresses.map(address => ({
      addresses: [address],
      conditions: { ready: true },
      ...(hostname === undefined ? {} : { hostname }),
    }))
    await client.create(slices, slice(`${what}-abc`, [], { endpoints }), signal())
    await client.create(serviceExports, serviceExport(what), signal())
  }

  /** In both clusters, seen in both. */
  async exportHeadless(what: string): Promise<void> {
    await this.export('east', what, { addresses: ['10.1.0.41'], isHeadless: true })
    await this.export('west', what, { addresses: ['10.2.0.41'], isHeadless: true })
    await this.expectAnswers(what, ['10.1.0.41', '10.2.0.41'])
  }

  async expectAnswers(
    what: string,
    addresses: readonly string[],
    from: readonly Member[] = members,
  ): Promise<void> {
    for (const member of from) {
      // A member that had lost its hub asks again after at most 15 s, and sends again after at most 30 s.
      await eventually(
        async () => expect(await this.addressesOf(member, name(what))).toEqual(addresses),
        45_000,
      )
    }
  }

  async move(member: Member, what: string, address: string): Promise<void> {
    const client = this.#deployment.client(member)
    const there = await client.get(slices, { namespace: 'shop', name: `${what}-abc` }, signal())
    const endpoints = [{ addresses: [address], conditions: { ready: true } }]
    await client.replace(slices, { ...there, endpoints }, {}, signal())
  }

  importOf(member: Member, what: string) {
    return this.#deployment.client(member).get(serviceImports, { namespace: 'shop', name: what }, signal())
  }

  async readyImport(member: Member, what: string) {
    const found = await this.importOf(member, what)
    expect(textOf(found.status?.conditions)).toEqual({ Ready: 'True/Ready' })
    return found
  }

  async conditionsOf(member: Member, what: string): Promise<Readonly<Record<string, string>>> {
    const client = this.#deployment.client(member)
    const found = await client.get(serviceExports, { namespace: 'shop', name: what }, signal())
    return textOf(found.status?.conditions)
  }

  async endpointsOf(member: Member, what: string): Promise<readonly string[]> {
    const { items } = await this.#deployment
      .client(member)
      .list(
        slices,
        { namespace: 'shop', labelSelector: `multicluster.kubernetes.io/service-name=${what}` },
        signal(),
      )
    return items.flatMap(item => item.endpoints.flatMap(endpoint => endpoint.addresses)).sort()
  }

  async addressesOf(member: Member, hostname: string): Promise<readonly string[]> {
    const resolver = new Resolver({ timeout: 1_000, tries: 1 })
    resolver.setServers([`127.0.0.1:${this.#deployment.dnsPort(member)}`])
    return (await resolver.resolve4(hostname)).sort()
  }
}
