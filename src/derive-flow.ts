/** Wires the stage `derive`: the Services of this cluster that route imports. */
import { keyOf } from './cluster/cluster.ts'
import { DeriveController } from './derive/controller.ts'
import { importOf, type Routing } from './derive/desired.ts'
import type { MemberContext } from './member-context.ts'

/** For when this cluster's objects have been read. */
export function startDeriving(context: MemberContext, routing: Routing): void {
  const { informers, localWriter, log, queue } = context
  const { namespaces, serviceImports, services } = informers
  const controller = new DeriveController({
    routing,
    serviceImports,
    services,
    namespaces,
    local: localWriter,
    log,
  })
  const imports = queue('derived services', localWriter, (ref, signal) => controller.reconcile(ref, signal))
  serviceImports.onChange(({ before, after }) => {
    const imported = (after ?? before)?.metadata
    if (imported !== undefined) imports.add(keyOf(imported))
  })
  services.onChange(({ before, after }) => {
    const imported = (after && importOf(after)) ?? (before && importOf(before))
    if (imported !== undefined) imports.add(keyOf(imported))
  })
  namespaces.onChange(({ after }) => {
    for (const { metadata } of serviceImports.list(after?.metadata.name ?? '')) imports.add(keyOf(metadata))
  })
}
