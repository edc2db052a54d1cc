/**
 * Gives Services of a standalone server their addresses and node ports, as kube-apiserver does. Not for servers that
 * have a kube-apiserver underneath, and only for one server of a store: what another one gives is known when it is stored.
 */
import type { KubeObject } from '../../src/api/meta.ts'
import { invalid } from '../../src/kernel/errors.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../contract.ts'
import type { Follow } from '../store-contract.ts'
import { ServiceAllocation } from './service-allocation.ts'
import { withFamilies } from './service-families.ts'
import { type LedgerOptions, ServiceLedger } from './service-ledger.ts'
import { hasClusterIp, specOf, writesService } from './service-spec.ts'

export type ClusterIpPlugin = AdmissionPlugin & {
  /** Resolves when it is known what stored Services hold; no Service may be written before. */
  start(follow: Follow, signal: AbortSignal): Promise<void>
}

/** Throws when a block is no CIDR or a family has two. */
export function clusterIpPlugin(options: LedgerOptions): ClusterIpPlugin {
  const ledger = new ServiceLedger(options)
  let unnamed = 0
  return {
    name: 'ClusterIP',
    start: (follow, signal) => follow({ resources: ['services'], namespace: '' }, ledger.follower, signal),
    handles: writesService,
    async mutate(attributes) {
      const { object, oldObject, served, namespace, name } = attributes
      // Whatever is wrong by itself is told with all other faults, by validation; nothing is given to it.
      if (object === undefined || served.kind.validate(object, oldObject).length > 0) return object
      // A name that is still to be generated; no Service has a question mark in its name.
      if (name === '') unnamed += 1
      const owner = `${namespace}/${name === '' ? `?${unnamed}` : name}`
      return withNumbers(ledger, attributes, object, owner)
    },
  }
}

function withNumbers(
  ledger: ServiceLedger,
  { name, dryRun, oldObject }: AdmissionAttributes,
  object: KubeObject,
  owner: string,
): KubeObject {
  const sent = specOf(object)
  if (!hasClusterIp(sent)) return object
  const old = oldObject === undefined ? undefined : specOf(oldObject)
  const { spec, errors } = withFamilies(sent, old, ledger.families)
  if (errors.length > 0) throw invalid({ group: '', kind: 'Service' }, name, errors)
  const allocation = new ServiceAllocation(ledger, { owner, name, old })
  try {
    const numbered = allocation.complete(spec)
    if (dryRun) allocation.giveBack()
    return { ...object, spec: numbered }
  } catch (thrown) {
    allocation.giveBack()
    throw thrown
  }
}
