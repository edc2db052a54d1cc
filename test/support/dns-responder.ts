/** A responder with real threads and sockets over an in-process cluster. */
import { type Dns, type DnsOptions, startDns } from '../../dns/responder.ts'
import { EndpointSliceKind } from '../../src/api/kinds/endpoint-slice.ts'
import { ServiceImportKind } from '../../src/api/kinds/service-import.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { type Ref, type Resource, resource } from '../../src/cluster/cluster.ts'
import { MemoryCluster, type MemoryOptions } from '../../src/cluster/memory.ts'
import { never } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { isReason } from '../../src/kernel/errors.ts'
import { memoryLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { question, type Shown, shown } from './dns-message.ts'
import type { Objects } from './dns-objects.ts'
import { tcpClient, udpClient } from './dns-socket.ts'
import { fullName, summary } from './dns-text.ts'

// The objects of these tests are of these kinds by construction; the resources are used for all of their shapes.
const imports = resource(ServiceImportKind) as Resource
const slices = resource(EndpointSliceKind) as Resource

export type ServicesCluster = {
  readonly cluster: MemoryCluster
  /** Creates or replaces. */
  put(objects: Partial<Objects>): Promise<void>
  removeImport(key: string): Promise<void>
  removeSlice(object: { readonly metadata: Ref }): Promise<void>
}

export function servicesCluster(options: Partial<MemoryOptions> = {}): ServicesCluster {
  const cluster = new MemoryCluster({ name: 'east', clock: systemClock, ...options })
  const put = async (of: Resource, object: { readonly metadata: Ref }): Promise<void> => {
    const whole = { apiVersion: of.apiVersion, kind: of.kind, ...object } as KubeObject
    const old = await cluster.get(of, object.metadata, never).catch((thrown: unknown) => {
      if (isReason(thrown, 'NotFound')) return undefined
      throw thrown
    })
    if (old === undefined) await cluster.create(of, whole, never)
    else {
      const { resourceVersion = '' } = old.metadata
      await cluster.replace(of, { ...whole, metadata: { ...whole.metadata, resourceVersion } }, {}, never)
    }
  }
  return {
    cluster,
    async put(objects) {
      for (const object of objects.imports ?? []) await put(imports, object)
      for (const object of objects.slices ?? []) await put(slices, object)
    },
    async removeImport(key) {
      const [namespace = '', name = ''] = key.split('/')
      await cluster.delete(imports, { namespace, name }, { signal: never })
    },
    async removeSlice({ metadata }) {
      await cluster.delete(slices, metadata, { signal: never })
    },
  }
}

export type RunningDns = {
  readonly dns: Dns
  readonly log: ReturnType<typeof memoryLogger>
  readonly port: number
  /** `web.prod A` → `NOERROR A 10.0.0.1`, over UDP. */
  ask(row: string): Promise<string>
  askTcp(row: string): Promise<Shown>
}

export async function runDns(
  options: Partial<DnsOptions> & Pick<DnsOptions, 'cluster'>,
  signal: AbortSignal = never,
): Promise<RunningDns> {
  const log = memoryLogger()
  const defaults = { host: '127.0.0.1', port: 0, clock: systemClock, log, metrics: noMetrics }
  const dns = await startDns({ ...defaults, ...options }, signal)
  const { port } = dns.address
  const message = (row: string): Buffer => {
    const [name = '', type = ''] = row.split(' ')
    return question(fullName(name), type)
  }
  return {
    dns,
    log,
    port,
    async ask(row) {
      const client = await udpClient(port)
      try {
        return summary(shown(await client.ask(message(row))))
      } finally {
        await client.close()
      }
    },
    async askTcp(row) {
      const client = await tcpClient(port)
      try {
        return shown(await client.ask(message(row)))
      } finally {
        client.socket.destroy()
      }
    },
  }
}
