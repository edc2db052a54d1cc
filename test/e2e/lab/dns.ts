// CoreDNS as the DNS of a cluster, as kubeadm installs it but for the upstream, which a lab does not have.
import { toYaml } from '../../../src/codec/yaml.ts'
import type { LabCluster } from './cluster.ts'
import { dnsImage } from './images.ts'

const namespace = 'kube-system'
const labels = { 'k8s-app': 'kube-dns' }

const corefile = `.:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 5
    }
    prometheus :9153
    cache 5
    loop
    reload 2s 1s
    loadbalance
}
`

export async function startDns(cluster: LabCluster): Promise<void> {
  const objects = [...rights, configuration, deployment, service(cluster.addresses.dns)]
  await cluster.kubectl.run(['apply', '-f', '-'], objects.map(object => toYaml(object)).join('---\n'))
  await cluster.kubectl.run([
    'rollout',
    'status',
    'deployment/coredns',
    `--namespace=${namespace}`,
    '--timeout=120s',
  ])
}

const rights = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'coredns', namespace } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'system:coredns' },
    rules: [
      {
        apiGroups: [''],
        resources: ['endpoints', 'services', 'pods', 'namespaces'],
        verbs: ['list', 'watch'],
      },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'system:coredns' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:coredns' },
    subjects: [{ kind: 'ServiceAccount', name: 'coredns', namespace }],
  },
]

const configuration = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'coredns', namespace },
  data: { Corefile: corefile },
}

const container = {
  name: 'coredns',
  image: dnsImage,
  imagePullPolicy: 'Never',
  args: ['-conf', '/etc/coredns/Corefile'],
  volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
  ports: [
    { name: 'dns', containerPort: 53, protocol: 'UDP' },
    { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
  ],
  readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
}

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'coredns', namespace, labels },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: 'coredns',
        dnsPolicy: 'Default',
        priorityClassName: 'system-cluster-critical',
        containers: [container],
        volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
      },
    },
  },
}

function service(addresses: readonly string[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace, labels },
    spec: {
      selector: labels,
      ipFamilyPolicy: 'PreferDualStack',
      clusterIP: addresses[0],
      clusterIPs: addresses,
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      ],
    },
  }
}
