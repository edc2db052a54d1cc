/**
 * What people are told at once when they write an export, or the Service of one: the conflicts with other clusters that
 * the hub is going to find where this cluster imports, and annotations that cannot be read. It is read from ServiceImports, so it
 * needs no hub, and the merge itself decides.
 */

import { isDeepStrictEqual } from 'node:util'
import { exportsOf } from './api/exports-annotation.ts'
import type { Contributor } from './api/kinds/cluster-set-service.ts'
import type { ExportedService } from './api/kinds/exported-service.ts'
import type { Service } from './api/kinds/service.ts'
import type { ServiceExport } from './api/kinds/service-export.ts'
import type { ServiceImport } from './api/kinds/service-import.ts'
import type { Informer, Ref } from './cluster/cluster.ts'
import type { Contribution } from './contract.ts'
import { collect } from './export/collect.ts'
import { exportOptions } from './export/options.ts'
import { exportedMapsOf } from './import/desired.ts'
import { type Foreseen, forecast, type Write } from './merge/forecast.ts'
import { ownContribution, sinceMs } from './own-contribution.ts'

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
    const conflicts = this.#compare({ serviceExport: before, service }, { serviceExport: after, service })
    return [...unreadable(after, before), ...conflicts]
  }

  ofService(after: Service, before: Service | undefined): readonly string[] {
    const serviceExport = this.#options.informers.serviceExports.get(after.metadata)
    return this.#compare({ serviceExport, service: before }, { serviceExport, service: after })
  }

  /** Nothing of a write that changes nothing of what is exported: who made the conflict has been told. */
  #compare(before: Pair, after: Pair): readonly string[] {
    const collected = collect(after.serviceExport, after.service)
    if (collected?.valid !== true) return []
    const known = this.#knownOf({ namespace: collected.spec.namespace, name: collected.spec.service })
    const earlier = collect(before.serviceExport, before.service)
    const write = {
      before: earlier?.valid === true ? this.#contribution(earlier.spec, known.own) : undefined,
      after: this.#contribution(collected.spec, known.own),
    }
    return isDeepStrictEqual(write.before, write.after) ? [] : forecast({ ...known, ...write })
  }

  /** What the clusters export as far as this one was told. */
  #knownOf(ref: Ref): { readonly own: Contributor | undefined } & Pick<Write, 'others' | 'maps'> {
    const { cluster, informers } = this.#options
    const imported = informers.serviceImports.get(ref)
    const exports = (imported && exportsOf(imported.metadata)) ?? []
    const used = imported === undefined ? [] : Object.values(exportedMapsOf(imported))
    return {
      own: exports.find(entry => entry.cluster === cluster),
      others: exports.filter(entry => entry.cluster !== cluster).flatMap(foreseenOf),
      maps: used,
    }
  }

  /** As the hub will count it: no older than it ever counted an export of this cluster. */
  #contribution(spec: ExportedService['spec'], own: Contributor | undefined): Contribution {
    return {
      ...ownContribution(this.#options.cluster, spec),
      acceptedMs: own === undefined ? 0 : sinceMs(own.since),
      consumers: undefined,
    }
  }
}

/** Of annotations that cannot be read as they stand, those that were not so before. */
function unreadable(after: ServiceExport, before: ServiceExport | undefined): readonly string[] {
  const told = exportOptions(before?.metadata.annotations).problems
  return exportOptions(after.metadata.annotations).problems.filter(problem => !told.includes(problem))
}

function foreseenOf(contributor: Contributor): readonly Foreseen[] {
  const { cluster, definition, ports, since, labelsDigest, annotationsDigest } = contributor
  if (definition === undefined) return []
  const dated = { cluster, createdMs: sinceMs(since), acceptedMs: 0 }
  return [
    { ...dated, service: { ...definition, ports }, labels: labelsDigest, annotations: annotationsDigest },
  ]
}
