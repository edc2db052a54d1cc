/** Keeps kube-apiserver's trust in a server that it stands in front of. */
import { apiServices, isServedBy, isServedByDefinition, type ServiceName } from '../cluster/api-services.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { startInformer } from '../cluster/informer.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { WorkQueue } from '../kernel/work-queue.ts'

export type CaBundleOptions = {
  readonly cluster: Cluster
  /** `<version>.<group>` of each. */
  readonly apiServices: readonly string[]
  /** The Service that they must name: others are somebody else's. */
  readonly service: ServiceName
  /** PEM of the authority of the serving certificate. */
  readonly caBundle: string
  readonly clock: Clock
  readonly log: Logger
}

const takenByDefinition =
  'a CustomResourceDefinition serves this version, and requests do not come here: isthmus migrate'

/**
 * Writes the authority of our certificate into the APIServices that name our Service, again whenever somebody changes it,
 * until the signal aborts. It neither makes nor removes an APIService: that is for whoever installs and uninstalls.
 */
export function keepCaBundle(options: CaBundleOptions, signal: AbortSignal): void {
  const { clock, cluster, log, service } = options
  const caBundle = Buffer.from(options.caBundle).toString('base64')
  const informers = new Map(
    options.apiServices.map(name => {
      const selection = { fieldSelector: `metadata.name=${name}`, clock, log }
      return [name, startInformer(cluster, apiServices, selection, signal)] as const
    }),
  )
  const reconcile = async (name: string, inner: AbortSignal): Promise<void> => {
    const current = informers.get(name)?.get({ name })
    if (current === undefined || current.metadata.deletionTimestamp !== undefined) return
    if (isServedByDefinition(current)) log.error(takenByDefinition, { apiService: name })
    if (!isServedBy(current, service)) return
    if (current.spec.caBundle === caBundle && current.spec.insecureSkipTLSVerify !== true) return
    // Both together are refused.
    const patch = { spec: { caBundle, insecureSkipTLSVerify: null } }
    await cluster.mergePatch(apiServices, { name }, patch, { signal: inner })
    log.info('caBundle written', { apiService: name })
  }
  const queue = new WorkQueue({ name: 'caBundle', clock, log }, reconcile, signal)
  for (const [name, informer] of informers) informer.onChange(() => queue.add(name))
}
