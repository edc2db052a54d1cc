import {
  type ExportedService,
  type ExportedServiceFacts,
  toExportedPort,
} from '../api/kinds/exported-service.ts'
import type { Service } from '../api/kinds/service.ts'
import type { ServiceExport } from '../api/kinds/service-export.ts'
import { type Family, familyOf } from '../ip/address.ts'
import { exportableAnnotations, exportableLabels } from './exported-map.ts'
import { exportOptions } from './options.ts'

/** What a ServiceExport comes to in its own cluster, before the hub has seen it. */
export type Collected =
  | {
      readonly valid: true
      readonly spec: ExportedService['spec']
      /** What is left out, and why: labels and annotations that no import can carry, addresses and clusters that are none. */
      readonly dropped: readonly string[]
    }
  | {
      readonly valid: false
      readonly reason: 'NoService' | 'InvalidServiceType'
      readonly message: string
    }

/** Undefined: there is no export, or none any more. */
export function collect(
  serviceExport: ServiceExport | undefined,
  service: Service | undefined,
): Collected | undefined {
  if (serviceExport === undefined || serviceExport.metadata.deletionTimestamp !== undefined) return undefined
  const { namespace = '', name } = serviceExport.metadata
  if (service === undefined || service.metadata.deletionTimestamp !== undefined) {
    return { valid: false, reason: 'NoService', message: `no Service ${name} in namespace ${namespace}` }
  }
  const refusal = refusalOf(service)
  if (refusal !== undefined) return { valid: false, reason: 'InvalidServiceType', message: refusal }
  const labels = exportableLabels(serviceExport.spec?.exportedLabels)
  const annotations = exportableAnnotations(serviceExport.spec?.exportedAnnotations)
  const { addresses, consumers, problems, whenUnreachable } = exportOptions(
    serviceExport.metadata.annotations,
  )
  return {
    valid: true,
    spec: {
      namespace,
      service: name,
      exportedAt: serviceExport.metadata.creationTimestamp ?? '',
      exportGeneration: serviceExport.metadata.generation ?? 0,
      ...(Object.keys(labels.kept).length === 0 ? {} : { exportedLabels: labels.kept }),
      ...(Object.keys(annotations.kept).length === 0 ? {} : { exportedAnnotations: annotations.kept }),
      ...(consumers === undefined ? {} : { consumers }),
      ...(addresses.length === 0 ? {} : { addresses }),
      ...(whenUnreachable === undefined ? {} : { whenUnreachable }),
      definition: factsOf(service),
    },
    dropped: [...labels.dropped, ...annotations.dropped, ...problems],
  }
}

function refusalOf({ metadata, spec }: Service): string | undefined {
  if (spec?.type === 'ExternalName') return 'a Service of type ExternalName has no endpoints to export'
  const derived = metadata.ownerReferences?.some(
    owner => owner.kind === 'ServiceImport' && owner.apiVersion.startsWith('multicluster.x-k8s.io/'),
  )
  return derived === true ? 'the Service is derived from a ServiceImport' : undefined
}

function factsOf(service: Service): ExportedServiceFacts {
  const spec = service.spec ?? {}
  const timeoutSeconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds
  return {
    type: spec.clusterIP === 'None' ? 'Headless' : 'ClusterSetIP',
    ports: (spec.ports ?? []).map(toExportedPort),
    ipFamilies: familiesOf(service),
    ...(spec.sessionAffinity === undefined ? {} : { sessionAffinity: spec.sessionAffinity }),
    ...(timeoutSeconds === undefined ? {} : { sessionAffinityConfig: { clientIP: { timeoutSeconds } } }),
    ...(spec.internalTrafficPolicy === undefined
      ? {}
      : { internalTrafficPolicy: spec.internalTrafficPolicy }),
    ...(spec.trafficDistribution === undefined ? {} : { trafficDistribution: spec.trafficDistribution }),
  }
}

/** As the API server set them; else those of the addresses that it gave. */
function familiesOf({ spec }: Service): readonly Family[] {
  const named = (spec?.ipFamilies ?? []).filter(family => family === 'IPv4' || family === 'IPv6')
  if (named.length > 0) return named
  const given = spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP])
  return [...new Set(given.map(familyOf).filter(family => family !== undefined))]
}
