/** What stays when a member goes, and who takes it away. */
import { ConfigMapKind } from '../api/kinds/config-map.ts'
import { ServiceExportKind } from '../api/kinds/service-export.ts'
import { type Cluster, keyOf, resource } from '../cluster/cluster.ts'
import { errorText } from '../kernel/abort.ts'
import { isReason } from '../kernel/errors.ts'

/** ConfigMaps of kube-system in which a cluster's DNS is told to forward a zone. */
const dnsConfigMaps = ['coredns', 'coredns-custom', 'kube-dns', 'node-local-dns']
const zone = 'clusterset.local'
const askedForMs = 10_000

/** To be asked before anything is deleted. A server that does not answer is not waited for. */
export async function leftBehind(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  const shortly = AbortSignal.any([signal, AbortSignal.timeout(askedForMs)])
  const asked = await Promise.all([exportsOf(cluster, shortly), forwards(cluster, shortly)])
  signal.throwIfAborted()
  return [
    ...asked.flat(),
    'the volume of the member, with its ServiceExports and its membership, until its namespace is deleted',
  ]
}

async function exportsOf(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const { items } = await cluster.list(resource(ServiceExportKind), {}, signal)
    return items.map(({ metadata }) => `ServiceExport ${keyOf(metadata)}, in the volume of the member only`)
  } catch (thrown) {
    return [`the ServiceExports of the cluster, which cannot be read: ${errorText(thrown)}`]
  }
}

async function forwards(cluster: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  const found = await Promise.all(dnsConfigMaps.map(name => forwardOf(cluster, name, signal)))
  return found.flat()
}

async function forwardOf(cluster: Cluster, name: string, signal: AbortSignal): Promise<readonly string[]> {
  const what = `ConfigMap kube-system/${name}`
  try {
    const { data = {} } = await cluster.get(
      resource(ConfigMapKind),
      { namespace: 'kube-system', name },
      signal,
    )
    const forwarding = Object.values(data).some(text => text.includes(zone))
    return forwarding ? [`${what}, which forwards ${zone}: take that block out`] : []
  } catch (thrown) {
    if (isReason(thrown, 'NotFound')) return []
    return [`${what}, if it forwards ${zone}; it cannot be read: ${errorText(thrown)}`]
  }
}
