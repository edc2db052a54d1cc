/** Wires the stages `import` and `endpoints`: ServiceImports and imported EndpointSlices of this cluster. */
import { newlyChanged } from './api/changed.ts'
import { derivedServiceName } from './api/derived-service.ts'
import type { EndpointSlice } from './api/kinds/endpoint-slice.ts'
import { acceptsObjects } from './api/kinds/namespace.ts'
import { sourceServiceOf } from './api/source-service.ts'
import { wellKnown } from './api/well-known.ts'
import { keyOf, type Ref } from './cluster/cluster.ts'
import { importsBehind, nameTaken, sameForImport } from './derive-flow.ts'
import { EndpointsController } from './endpoints/controller.ts'
import { isOurs } from './endpoints/desired.ts'
import { sameForSlices } from './endpoints/imported-service.ts'
import { type Annotated, type Preference, preferenceOf } from './endpoints/preference.ts'
import { type ExportFlow, isStatusOnly } from './export-flow.ts'
import { clashOf } from './heartbeat/overlap.ts'
import { ImportController } from './import/controller.ts'
import { Importables } from './import/importables.ts'
import { ImportReport } from './import/report.ts'
import { type Changed, Leg, type Way } from './kernel/propagation.ts'
import type { WorkQueue } from './kernel/work-queue.ts'
import type { MemberContext } from './member-context.ts'
import { isUnmerged, unmergedService } from './unmerged.ts'

export class ImportFlow {
  readonly #context: MemberContext
  readonly #exports: ExportFlow
  readonly #importables: Importables
  /** Until this cluster has what is imported. */
  readonly #stored: Readonly<Record<Way, Leg>>
  readonly #imports: WorkQueue
  readonly #endpoints: WorkQueue

  constructor(context: MemberContext, exports: ExportFlow) {
    this.#context = context
    this.#exports = exports
    const { hubNamespace: own, propagation } = context
    const importing = { propagation, stage: 'import', total: 'to_import', own } as const
    this.#stored = {
      export: new Leg({ ...importing, way: 'export' }),
      endpoints: new Leg({ ...importing, way: 'endpoints' }),
    }
    this.#importables = new Importables(context.informers.importables)
    this.#imports = this.#importQueue()
    this.#endpoints = this.#endpointsQueue()
  }

  /** For when this cluster's objects have been read: endpoints of its own need no hub. */
  startLocal(): void {
    const { informers, sources } = this.#context
    for (const slice of informers.endpointSlices.list()) sources.ownChanged(undefined, slice)
    sources.ownComplete = true
    informers.endpointSlices.onChange(({ before, after }) => {
      const of = [before, after].map(slice => slice && sourceServiceOf(slice))
      const keys = sources.ownChanged(before, after)
      this.#noteSlices(keys, { atMs: this.#context.clock.now(), by: this.#context.hubNamespace })
      this.#addChanged(keys, of)
      if ([before, after].some(slice => slice !== undefined && isOurs(slice)))
        this.#addImported(after ?? before)
    })
    for (const informer of [informers.serviceExports, informers.services]) {
      informer.onChange(change => {
        if (!isStatusOnly(change)) this.#addExported((change.after ?? change.before)?.metadata)
      })
    }
    this.#exports.onSent(key => this.#imports.add(key))
    // Addresses that were this cluster's own may clash now, and the other way round.
    this.#context.onNetworks(() => {
      for (const { metadata } of informers.serviceImports.list()) this.#imports.add(keyOf(metadata))
    })
    informers.serviceImports.onChange(({ before, after }) => {
      const imported = (after ?? before)?.metadata
      if (imported !== undefined) this.#imports.add(keyOf(imported))
      // Once the hub has told of the service, that is what slices go by, but for the import that they go with.
      const another = before?.metadata.uid !== after?.metadata.uid && this.#context.routing !== undefined
      const isUnknown =
        !this.#importables.hasSynced() || [before, after].some(one => one !== undefined && isUnmerged(one))
      if (another || isUnknown || preferred(before) !== preferred(after)) this.#addSlicesOf(imported)
    })
    const { routing } = this.#context
    if (routing !== undefined) {
      informers.services.onChange(({ before, after }) => {
        if (sameForImport(before, after, routing)) return
        for (const imported of importsBehind(after ?? before, informers.serviceImports))
          this.#imports.add(keyOf(imported))
      })
    }
    informers.namespaces.onChange(({ before, after }) => {
      const name = (after ?? before)?.metadata.name ?? ''
      const another = preferred(before) !== preferred(after)
      if (another || acceptsObjects(before) !== acceptsObjects(after)) this.#addNamespace(name)
    })
  }

  /** For when the hub has told everything that may be imported: what is here too much is found by its own objects. */
  startHub(): void {
    const { informers, sources } = this.#context
    // What the hub held before is not under way.
    let isNews: boolean = false
    this.#importables.onChange({
      onService: (service, { before, after }) => {
        const changed = newlyChanged(before, after)
        if (isNews) this.#stored.export.note(keyOf(service), changed)
        this.#imports.add(keyOf(service))
        if (sameForSlices(before, after)) return
        if (isNews) this.#noteSlices(sources.keysOf(service), changed)
        this.#addSlicesOf(service)
      },
      onSlice: ({ before, after }) => {
        const of = [before, after].map(
          slice => slice && { namespace: slice.spec.namespace, name: slice.spec.service },
        )
        const keys = sources.remoteChanged(before, after)
        const changed = newlyChanged(before, after)
        // Members write this themselves, and the hub tells nobody of slices of its own: by another clock, whatever it says.
        if (isNews) this.#noteSlices(keys, changed && { atMs: changed.atMs })
        this.#addChanged(keys, of)
      },
    })
    isNews = true
    sources.remoteComplete = true
    for (const { metadata } of informers.serviceImports.list()) {
      this.#imports.add(keyOf(metadata))
      this.#addSlicesOf(metadata)
    }
    for (const slice of informers.endpointSlices.list()) if (isOurs(slice)) this.#addImported(slice)
  }

  /** For when the hub has told what it was told of imports here. */
  startReports(): void {
    const { informers } = this.#context
    const reports = this.#reportQueue()
    this.#importables.onChange({
      onService: service => reports.add(keyOf(service)),
      onSlice: () => undefined,
    })
    informers.serviceImports.onChange(({ before, after }) => {
      if (before?.metadata.uid !== after?.metadata.uid)
        reports.add(keyOf((after ?? before)?.metadata ?? { name: '' }))
    })
    informers.importedServices.onChange(({ before, after }) => {
      const spec = (after ?? before)?.spec
      if (spec !== undefined) reports.add(keyOf({ namespace: spec.namespace, name: spec.service }))
    })
  }

  #noteSlices(keys: readonly string[], changed: Changed | undefined): void {
    for (const key of keys) this.#stored.endpoints.note(key, changed)
  }

  /** What of a service is used depends on all its slices where clusters are preferred. */
  #addChanged(keys: readonly string[], services: readonly (Ref | undefined)[]): void {
    for (const key of keys) this.#endpoints.add(key)
    const [before, after] = services
    for (const service of before && after && keyOf(before) === keyOf(after) ? [after] : services) {
      if (service !== undefined && this.#preference(service).rings !== undefined) this.#addSlicesOf(service)
    }
  }

  #preference(service: Ref): Preference {
    const { namespaces, serviceImports } = this.#context.informers
    return preferenceOf(serviceImports.get(service), namespaces.get({ name: service.namespace ?? '' }))
  }

  #addImported(slice: EndpointSlice | undefined): void {
    if (slice !== undefined) this.#endpoints.add(keyOf(slice.metadata))
  }

  #addExported(service: Ref | undefined): void {
    if (service === undefined) return
    this.#imports.add(keyOf(service))
    this.#addSlicesOf(service)
  }

  #addSlicesOf(service: Ref | undefined): void {
    if (service === undefined) return
    for (const key of this.#context.sources.keysOf(service)) this.#endpoints.add(key)
  }

  #addNamespace(namespace: string): void {
    for (const service of this.#importables.servicesIn(namespace)) this.#imports.add(keyOf(service))
    for (const key of this.#context.sources.keysIn(namespace)) this.#endpoints.add(key)
  }

  #importQueue(): WorkQueue {
    const { cluster, clock, collected, families, informers, localWriter, log, networks, queue, routing } =
      this.#context
    const own = { cluster, collected, sent: (service: Ref) => this.#exports.sent(service) }
    const controller = new ImportController({
      unmerged: (service, current) => unmergedService(service, current, own),
      isUnmerged,
      note: service => this.#preference(service).problem,
      importables: this.#importables,
      serviceImports: informers.serviceImports,
      namespaces: informers.namespaces,
      local: localWriter,
      families,
      nameTaken: service => (routing === undefined ? undefined : nameTaken(service, informers.services)),
      clashOf: ips => clashOf(ips, networks()),
      localAddresses: routing === 'local' ? service => this.#localAddresses(service) : undefined,
      clock,
      log,
    })
    return queue('imports', localWriter, (ref, signal) =>
      this.#stored.export.carry(keyOf(ref), () => controller.reconcile(ref, signal)),
    )
  }

  #reportQueue(): WorkQueue {
    const { hubNamespace, hubWriter, informers, queue } = this.#context
    const { importedServices, serviceImports } = informers
    const hub = hubWriter
    const importables = this.#importables
    const report = new ImportReport({ importables, serviceImports, importedServices, hub, hubNamespace })
    return queue('import reports', hubWriter, (ref, signal) => report.reconcile(ref, signal))
  }

  #localAddresses(service: Ref): readonly string[] {
    const derived = this.#context.informers.services.get({ ...service, name: derivedServiceName(service) })
    return (derived?.spec?.clusterIPs ?? []).filter(ip => ip !== 'None')
  }

  #endpointsQueue(): WorkQueue {
    const { cluster, collected, families, informers, localWriter, queue, routing, sources } = this.#context
    const controller = new EndpointsController({
      cluster,
      families,
      sources,
      importables: this.#importables,
      serviceImports: informers.serviceImports,
      endpointSlices: informers.endpointSlices,
      namespaces: informers.namespaces,
      exportedPorts: service => {
        const found = collected(service)
        return found?.valid === true ? found.spec.definition.ports : undefined
      },
      isUnmerged,
      local: localWriter,
      routes: routing !== undefined,
    })
    return queue('endpoints', localWriter, (ref, signal) =>
      this.#stored.endpoints.carry(keyOf(ref), changed => controller.reconcile(ref, changed, signal)),
    )
  }
}

function preferred(object: Annotated): string | undefined {
  return object?.metadata.annotations?.[wellKnown.prefer]
}
