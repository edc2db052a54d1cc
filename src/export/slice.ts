import type { EndpointSlice } from '../api/kinds/endpoint-slice.ts'
import type {
  ExportedEndpoint,
  ExportedEndpointPort,
  ExportedEndpointSlice,
} from '../api/kinds/exported-endpoint-slice.ts'
import { sourceServiceOf } from '../api/source-service.ts'

/** Undefined: no family that other clusters could reach. */
export function exportedSliceSpec(slice: EndpointSlice): ExportedEndpointSlice['spec'] | undefined {
  const service = sourceServiceOf(slice)
  const { addressType, metadata } = slice
  if (service === undefined || (addressType !== 'IPv4' && addressType !== 'IPv6')) return undefined
  return {
    namespace: service.namespace,
    service: service.name,
    slice: metadata.name,
    addressType,
    endpoints: slice.endpoints.map(endpointOf),
    ports: (slice.ports ?? []).map(portOf),
  }
}

/** Node and target mean nothing elsewhere, and a node of the same name would look like the importing cluster's own. */
function endpointOf(endpoint: EndpointSlice['endpoints'][number]): ExportedEndpoint {
  const { addresses, conditions, hostname, zone } = endpoint
  return {
    addresses,
    ...(conditions === undefined ? {} : { conditions }),
    ...(hostname === undefined || hostname === '' ? {} : { hostname }),
    ...(zone === undefined || zone === '' ? {} : { zone }),
  }
}

function portOf(port: NonNullable<EndpointSlice['ports']>[number]): ExportedEndpointPort {
  const { name = '', protocol, port: number, appProtocol } = port
  return {
    name,
    protocol: protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP',
    ...(number === undefined ? {} : { port: number }),
    ...(appProtocol === undefined ? {} : { appProtocol }),
  }
}
