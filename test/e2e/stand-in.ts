// What deploy/ gives a component of ours, for a process on the node in the place of its pods.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '../../src/codec/yaml.ts'

type Manifest = Readonly<Record<string, unknown>> & { readonly kind: string }
type Port = {
  readonly name: string
  readonly protocol?: string
  readonly port: number
  readonly targetPort: number | string
}
type Service = {
  readonly metadata: { readonly namespace: string; readonly name: string }
  readonly spec: { readonly selector?: unknown; readonly ports: readonly Port[] }
}

/** All that is not about pods. */
const kinds = [
  'Namespace',
  'ServiceAccount',
  'Service',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
]

/** The documents of a folder's files, without those that kustomize alone reads. */
export function manifestsOf(folder: string): readonly Manifest[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.yaml') && name !== 'kustomization.yaml')
    .flatMap(name => readFileSync(join(folder, name), 'utf8').split(/^---$/m))
    .map(text => Object(parseYaml(text).value))
}

/**
 * Accounts, rights and Services of a component, in the order in which they can be applied. The Services select no pods:
 * their endpoints are the process at this address.
 */
export function standInFor(manifests: readonly Manifest[], address: string): readonly object[] {
  return manifests
    .filter(({ kind }) => kinds.includes(kind))
    .toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind))
    .flatMap(manifest => (manifest.kind === 'Service' ? byHand(Object(manifest), address) : [manifest]))
}

function byHand(service: Service, address: string): readonly object[] {
  const { selector: _selector, ...spec } = service.spec
  const { namespace, name } = service.metadata
  return [
    { ...service, spec },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { namespace, name: `${name}-process`, labels: { 'kubernetes.io/service-name': name } },
      addressType: address.includes(':') ? 'IPv6' : 'IPv4',
      endpoints: [{ addresses: [address] }],
      ports: spec.ports.map(port => ({
        name: port.name,
        // A name is one of the pods: the process listens where the Service does.
        port: typeof port.targetPort === 'number' ? port.targetPort : port.port,
        protocol: port.protocol ?? 'TCP',
      })),
    },
  ]
}
