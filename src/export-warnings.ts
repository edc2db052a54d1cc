/**
 * What people are told at once when they write an export, or the Service of one: the conflicts with other clusters that
 * the hub is going to find. It is read from ServiceImports, so it needs no hub, and the merge itself decides.
 */

import { exportsOf } from './api/exports-annotation.ts'
import type { Contributor } from './api/kinds/cluster-set-service.ts'
import type { ExportedService } from './api/kinds/exported-service.ts'
import type { Service } from './api/kinds/service.ts'
import type { ServiceExport } from './api/kinds/service-export.ts'
import type { ServiceImport } from './api/kinds/service-import.ts'
import type { Informer, Ref } from './cluster/cluster.ts'
import type { Contribution } from './contract.ts'
import { collect } from './export/collect.ts'
import { exportedMapsOf } from './import/desired.ts'
import { fromTime } from './kernel/clock.ts'
import { forecast } from './merge/forecast.ts'

export type ExportWarningsOptions = {
  /** The id of this cluster. */
  readonly cluster: string
  readonly informers: {
    readonly serviceExports: Informer<ServiceExport>
    readonly services: Informer<Service>
    readonly serviceImports: Informer<ServiceImport>
  }
}

type Pair = { readonly serviceExport: ServiceExport | undefined; readonly service: Service | undefined }

export class ExportWarnings {
  readonly #options: ExportWarningsOptions

  constructor(options: ExportWarningsOptions) {
    this.#options = options
  }

  ofExport(after: ServiceExport, before: ServiceExport | undefined): readonly string[] {
    const service = this.#options.informers.services.get(after.metadata)
    return this.#compare({ serviceExport: before, service }, { serviceExport: after, service })
  }

  ofService(after: Service, before: Service | undefined): readonly string[] {
    const serviceExport = this.#options.informers.serviceExports.get(after.metadata)
    return this.#compare({ serviceExport, service: before }, { serviceExport, service: after })
  }

  #compare(before: Pair, after: Pair): readonly string[] {
    const collected = collect(after.serviceExport, after.service)
    if (collected?.valid !== true) return []
    const { spec } = collected
    const known = this.#knownOf({ namespace: spec.namespace, name: spec.service })
    const earlier = collect(before.serviceExport, before.service)
    return forecast({
      others: known.others,
      before: earlier?.valid === true ? this.#contribution(earlier.spec, known.own) : undefined,
      after: this.#contribution(spec, known.own),
    })
  }

  /** What the clusters export as far as this one was told. */
  #knownOf(ref: Ref): { readonly own: Contributor | undefined; readonly others: readonly Contribution[] } {
    const { cluster, informers } = this.#options
    const imported = informers.serviceImports.get(ref)
    const exports = (imported && exportsOf(imported.metadata)) ?? []
    const maps = imported === undefined ? { labels: {}, annotations: {} } : exportedMapsOf(imported)
    return {
      own: exports.find(entry => entry.cluster === cluster),
      others: exports.filter(entry => entry.cluster !== cluster).flatMap(entry => otherOf(entry, maps)),
    }
  }

  /** As the hub will count it: no older than it ever counted an export of this cluster. */
  #contribution(spec: ExportedService['spec'], own: Contributor | undefined): Contribution {
    return {
      cluster: this.#options.cluster,
      createdMs: sinceMs(spec.exportedAt),
      acceptedMs: own === undefined ? 0 : sinceMs(own.since),
      labels: spec.exportedLabels ?? {},
      annotations: spec.exportedAnnotations ?? {},
      consumers: undefined,
      taint: undefined,
      service: spec.definition,
    }
  }
}

/** Labels and annotations are known of the oldest export only, and only the oldest's are used: the others count as equal. */
function otherOf(
  { cluster, definition, ports, since }: Contributor,
  maps: Pick<Contribution, 'labels' | 'annotations'>,
): readonly Contribution[] {
  if (definition === undefined) return []
  const service = { ...definition, ports }
  const createdMs = sinceMs(since)
  return [{ ...maps, cluster, createdMs, acceptedMs: 0, consumers: undefined, taint: undefined, service }]
}

/** Later than all others while the hub has not told. */
function sinceMs(since: string | undefined): number {
  const ms = fromTime(since ?? '')
  return Number.isNaN(ms) ? Number.MAX_SAFE_INTEGER : ms
}
