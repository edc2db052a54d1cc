/** Wires the stage `derive`: the Services of this cluster that route imports. */
import { derivedServiceName, isDerivedName } from './api/derived-service.ts'
import type { Service } from './api/kinds/service.ts'
import type { ServiceImport } from './api/kinds/service-import.ts'
import { type Informer, keyOf, type Ref } from './cluster/cluster.ts'
import { equalJson } from './cluster/json.ts'
import { DeriveController } from './derive/controller.ts'
import { importOf, isOurs, type Routing, sameForRouting } from './derive/desired.ts'
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
    if (imported !== undefined && !sameForRouting(before, after)) imports.add(keyOf(imported))
  })
  services.onChange(({ before, after }) => {
    for (const imported of importsBehind(after ?? before, serviceImports)) imports.add(keyOf(imported))
  })
  namespaces.onChange(({ after }) => {
    for (const { metadata } of serviceImports.list(after?.metadata.name ?? '')) imports.add(keyOf(metadata))
  })
}

/** The import that a Service routes, or whose derived Service could not be made because this one has its name. */
export function importsBehind(
  service: Service | undefined,
  imports: Informer<ServiceImport>,
): readonly Ref[] {
  if (service === undefined || !isDerivedName(service.metadata.name)) return []
  const routed = importOf(service)
  if (routed !== undefined) return [routed]
  const { name, namespace = '' } = service.metadata
  const found = imports.list(namespace).find(({ metadata }) => derivedServiceName(metadata) === name)
  return found === undefined ? [] : [found.metadata]
}

/** Whether a Service routes its import as before: the import tells of both addresses and somebody else's Service. */
export function sameForImport(a: Service | undefined, b: Service | undefined, routing: Routing): boolean {
  return equalJson(a && routed(a, routing), b && routed(b, routing))
}

function routed(service: Service, routing: Routing): unknown {
  if (!isOurs(service)) return 'taken'
  // Elsewhere the addresses are those of the import itself.
  return routing === 'local' ? service.spec?.clusterIPs : undefined
}

/** Why an import cannot be routed: somebody else has made a Service of the name. Undefined when nobody has. */
export function nameTaken(imported: Ref, services: Informer<Service>): string | undefined {
  const name = derivedServiceName(imported)
  const there = services.get({ ...imported, name })
  if (there === undefined || isOurs(there)) return undefined
  return `no packets are routed to it: somebody else has made the Service ${name}, whose name its own would have`
}
