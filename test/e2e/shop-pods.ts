// What packets are tested with: pods that say who they are, in Services of every kind, and a pod that asks.
import type { LabCluster } from './lab/cluster.ts'
import { podImage } from './lab/images.ts'

const namespace = 'shop'

type Pod = { readonly name: string; readonly app: string; readonly spec?: object }

function pod({ name, app, spec }: Pod, command: readonly string[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app } },
    spec: {
      containers: [{ name: app, image: podImage, command }],
      terminationGracePeriodSeconds: 1,
      ...spec,
    },
  }
}

type Port = { readonly name: string; readonly port: number; readonly protocol?: 'UDP' }

/** Of the pods `app=web`, on ports that lead to the one that they listen on. */
function service(name: string, ports: readonly Port[], spec: object): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: {
      selector: { app: 'web' },
      ipFamilyPolicy: 'PreferDualStack',
      ports: ports.map(port => ({ ...port, targetPort: 8080 })),
      ...spec,
    },
  }
}

const http = { name: 'http', port: 80 }
const udp = { name: 'udp', port: 80, protocol: 'UDP' } as const

/** `web-CLUSTER` answers with its name and who asked; `client` waits for what tests run in it. */
function podsOf(cluster: string): readonly object[] {
  const serve = ['tools', 'serve', '8080']
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    pod({ name: `web-${cluster}`, app: 'web' }, serve),
    pod({ name: 'db-0', app: 'db', spec: { hostname: 'db-0', subdomain: 'db' } }, serve),
    pod({ name: 'client', app: 'client' }, ['tools', 'pause']),
  ]
}

/** Each exported by all clusters, which agree on all but one port: `own` names that of this cluster. */
function servicesOf(own: Port): readonly object[] {
  return [
    service('web', [http, udp], {}),
    service('sticky', [http], { sessionAffinity: 'ClientIP' }),
    service('near', [http], { internalTrafficPolicy: 'Local' }),
    service('strict', [own], {}),
    service('disputed', [{ ...own, name: 'http' }], {}),
    service('db', [http], { clusterIP: 'None', selector: { app: 'db' } }),
  ]
}

function exportOf(object: object): object {
  const { metadata }: { readonly metadata?: object } = object
  return { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport', metadata }
}

/** Resolves when all pods run. */
export async function openShop({ kubectl, name }: LabCluster, own: Port): Promise<void> {
  const services = servicesOf(own)
  const items = [...podsOf(name), ...services, ...services.map(exportOf)]
  await kubectl.run(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  await kubectl.run(['wait', '--for=condition=Ready', 'pod', '--all', '-n', namespace, '--timeout=120s'])
}

/** What a script prints that runs in the pod `client`. */
export function inClient({ kubectl }: LabCluster, script: string): Promise<string> {
  return kubectl.run(['exec', 'client', '-n', namespace, '--', 'bash', '-c', script])
}

/** One field of an object of the shop, or of those that a selector finds, its words apart. */
export async function field(
  { kubectl }: LabCluster,
  object: string,
  path: string,
): Promise<readonly string[]> {
  const found = await kubectl.run(['get', ...object.split(' '), '-n', namespace, '-o', `jsonpath=${path}`])
  return found.split(' ').filter(Boolean)
}
