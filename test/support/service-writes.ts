import { clusterIpPlugin } from '../../apiservice/admission/cluster-ip.ts'
import type { LedgerOptions } from '../../apiservice/admission/service-ledger.ts'
import type { AdmissionAttributes } from '../../apiservice/contract.ts'
import { followStore } from '../../apiservice/store/follow.ts'
import { openMemoryStore } from '../../apiservice/store/memory-store.ts'
import { applyDefaults } from '../../src/api/derive/validate.ts'
import type { AnyKind } from '../../src/api/kind.ts'
import { ServiceKind } from '../../src/api/kinds/service.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { decodeBody, encodeBody } from '../../src/codec/object-bytes.ts'
import { never } from '../../src/kernel/abort.ts'
import { invalid, StatusError } from '../../src/kernel/errors.ts'
import { memoryLogger, silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { manualClock, settled } from './manual-clock.ts'

const kind: AnyKind = ServiceKind

export type Spec = Readonly<Record<string, unknown>>

/** A Service as it is sent: `shop/web` with a type and one port unless told otherwise. */
export function aService(spec: Spec = {}, name = 'web'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop' },
    spec: { type: 'ClusterIP', selector: { app: 'web' }, ports: [{ port: 80, protocol: 'TCP' }], ...spec },
  }
}

/** Writes of Services through the plugin into a memory store. */
export async function serviceWrites(options: Partial<LedgerOptions> = {}) {
  const clock = manualClock()
  const log = memoryLogger()
  const store = await openMemoryStore({ clock, log: silentLogger, metrics: noMetrics })
  const settings: LedgerOptions = {
    cidrs: ['10.96.0.0/28', 'fd00::/124'],
    nodePorts: { first: 30_000, last: 30_003 },
    clock,
    log,
    ...options,
  }
  const stop = new AbortController()
  let plugin = clusterIpPlugin(settings)
  await plugin.start(followStore(store, { clock, log }), stop.signal)

  const keyOf = (object: KubeObject) => ({
    resource: 'services',
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name,
  })
  const stored = async (object: KubeObject): Promise<KubeObject | undefined> => {
    const found = await store.get(keyOf(object))
    return found === undefined ? undefined : decodeBody('v1', 'Service', found)
  }
  /** What the kind and the plugin make of a write, which then goes no further. */
  const admit = async (object: KubeObject, more: Partial<AdmissionAttributes> = {}): Promise<KubeObject> => {
    const oldObject = await stored(object)
    const attributes: AdmissionAttributes = {
      operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
      served: { kind, version: 'v1' },
      namespace: object.metadata.namespace ?? '',
      name: object.metadata.name,
      subresource: '',
      user: { name: 'ada', groups: [], extra: {} },
      dryRun: false,
      object: kind.prepare(applyDefaults(kind, object), oldObject),
      oldObject,
      warn: () => undefined,
      ...more,
    }
    const admitted = await plugin.mutate?.(attributes, never)
    if (admitted === undefined) throw new Error('nothing was answered')
    const faults = kind.validate(admitted, oldObject)
    if (faults.length > 0) throw invalid({ group: '', kind: 'Service' }, object.metadata.name, faults)
    return admitted
  }
  /** A whole write; answers the spec. The plugin has seen it when this resolves. */
  const write = async (object: KubeObject): Promise<Spec> => {
    const admitted = await admit(object)
    const old = await store.get(keyOf(object))
    const body = encodeBody(admitted)
    await (old === undefined
      ? store.create(keyOf(object), body)
      : store.update(keyOf(object), old.revision, body))
    await settled()
    // The tests write objects with a spec.
    return admitted.spec as Spec
  }
  const remove = async (object: KubeObject): Promise<void> => {
    const old = await store.get(keyOf(object))
    await store.delete(keyOf(object), old?.revision ?? 0)
    await settled()
  }
  const restart = async (changed: Partial<LedgerOptions> = {}): Promise<void> => {
    plugin = clusterIpPlugin({ ...settings, ...changed })
    await plugin.start(followStore(store, { clock, log }), stop.signal)
  }
  return { clock, log, store, admit, write, remove, restart }
}

/** The message of the StatusError that a write is refused with, after its prefix. */
export async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const thrown = await attempt.then(
    () => new Error('accepted'),
    (failure: unknown) => failure,
  )
  if (!(thrown instanceof StatusError)) throw thrown
  return `${thrown.code} ${thrown.message.replace('Service "web" is invalid: ', '')}`
}
