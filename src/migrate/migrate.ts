/**
 * Stage `migrate`: carries the ServiceExports that a CustomResourceDefinition of our group holds over to our server, and
 * then leads the requests there. Promises: it may be run again at any time; nothing is overwritten and nothing deleted;
 * requests are led over only when everything is there.
 * Refuses: to choose between two exports of one name that differ.
 */
import { type ServiceExport, ServiceExportKind } from '../api/kinds/service-export.ts'
import {
  type ApiService,
  apiServices,
  isServedByDefinition,
  type ServiceName,
} from '../cluster/api-services.ts'
import { type Cluster, keyOf, type Resource, resource } from '../cluster/cluster.ts'
import { errorText } from '../kernel/abort.ts'
import { isReason } from '../kernel/errors.ts'
import { carried, isSame } from './carried.ts'

export type MigrateOptions = {
  /** The kube-apiserver, by which the definition's objects are read. */
  readonly cluster: Cluster
  /** Our server, asked directly. */
  readonly own: Cluster
  /** `<version>.<group>` of each, preferred ones first. */
  readonly apiServices: readonly string[]
  readonly service: ServiceName
  /** Says what it would do, and does nothing. */
  readonly isDryRun: boolean
  /** Told each thing that is done. */
  report(line: string): void
}

const ours = resource(ServiceExportKind)

/** Rejects when something could not be carried over; then nothing has been led over. */
export async function migrate(options: MigrateOptions, signal: AbortSignal): Promise<void> {
  const { apiServices: names, isDryRun, report } = options
  const defined = await servedByDefinition(options, signal)
  const [from] = defined
  if (from === undefined) {
    report(`no CustomResourceDefinition serves ${names.join(' or ')}: there is nothing to do`)
    return
  }
  await carryOver(options, from, signal)
  for (const definition of defined) {
    const { name } = definition.metadata
    if (!isDryRun) {
      // What was made meanwhile.
      await carryOver({ ...options, report: () => undefined }, definition, signal)
      await leadOver(options, name, signal)
    }
    report(`${isDryRun ? 'would lead' : 'led'} ${name} to Service ${keyOf(options.service)}`)
  }
}

async function servedByDefinition(
  { apiServices: names, cluster }: MigrateOptions,
  signal: AbortSignal,
): Promise<readonly ApiService[]> {
  const found: ApiService[] = []
  for (const name of names) {
    // One by one: the member may read no others.
    const current = await cluster.get(apiServices, { name }, signal).catch(undefinedIfMissing)
    if (current !== undefined && isServedByDefinition(current)) found.push(current)
  }
  return found
}

function undefinedIfMissing(thrown: unknown): undefined {
  if (!isReason(thrown, 'NotFound')) throw thrown
}

async function carryOver(options: MigrateOptions, from: ApiService, signal: AbortSignal): Promise<void> {
  const { items } = await options.cluster.list(atVersionOf(from), {}, signal)
  const failed: string[] = []
  for (const item of items) {
    const problem = await carryOne(item, options, signal)
    if (problem !== undefined) failed.push(`ServiceExport ${keyOf(item.metadata)}: ${problem}`)
  }
  if (failed.length === 0) return
  throw new Error(`${failed.join('; ')}. Nothing was led over: see to these and run it again`)
}

/** Undefined when our server has it now, or would have it. */
async function carryOne(
  item: ServiceExport,
  { isDryRun, own, report }: MigrateOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const wanted = carried(item)
  const key = keyOf(item.metadata)
  try {
    const current = await own.get(ours, item.metadata, signal)
    if (!isSame(current, wanted)) return 'there is another one of this name, which differs'
    report(`ServiceExport ${key} is there`)
    return undefined
  } catch (thrown) {
    if (!isReason(thrown, 'NotFound')) throw thrown
  }
  if (item.metadata.deletionTimestamp !== undefined) {
    report(`ServiceExport ${key} is being deleted and is left out`)
    return undefined
  }
  try {
    if (!isDryRun) await own.create(ours, wanted, signal)
    report(`ServiceExport ${key} ${isDryRun ? 'would be' : 'is'} carried over`)
    return undefined
  } catch (thrown) {
    signal.throwIfAborted()
    return errorText(thrown)
  }
}

/** The version that the definition serves. */
function atVersionOf({ metadata }: ApiService): Resource<ServiceExport> {
  const [version = ''] = metadata.name.split('.')
  return { ...ours, version, apiVersion: `${ours.group}/${version}` }
}

/** Without its label, kube-apiserver no longer sets the APIService back to what the definition says. */
async function leadOver(options: MigrateOptions, name: string, signal: AbortSignal): Promise<void> {
  const { cluster, service } = options
  const patch = {
    metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': null } },
    spec: { service: { ...service, port: 443 } },
  }
  await cluster.mergePatch(apiServices, { name }, patch, { signal })
}
