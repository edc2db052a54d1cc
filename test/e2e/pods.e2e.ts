import { beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { inUrl } from './lab/addresses.ts'
import { skipsNodes } from './lab/capabilities.ts'
import type { LabCluster } from './lab/cluster.ts'
import { run } from './lab/command.ts'
import { podImage } from './lab/images.ts'
import { useLab } from './lab/use-lab.ts'

const namespace = 'shop'

/** `web` answers over HTTP and UDP with its host name and who asked; `client` waits for what tests run in it. */
function workload(): readonly object[] {
  const pod = (name: string, command: readonly string[]): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name } },
    spec: { containers: [{ name, image: podImage, command }], terminationGracePeriodSeconds: 1 },
  })
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    pod('web', ['tools', 'serve', '8080']),
    pod('client', ['tools', 'pause']),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace },
      spec: {
        selector: { app: 'web' },
        ipFamilyPolicy: 'RequireDualStack',
        ports: [
          { name: 'http', port: 80, targetPort: 8080 },
          { name: 'udp', port: 80, targetPort: 8080, protocol: 'UDP' },
        ],
      },
    },
  ]
}

async function addressesOf(cluster: LabCluster, object: string, field: string): Promise<readonly string[]> {
  const found = await cluster.kubectl.run([
    'get',
    object,
    `--namespace=${namespace}`,
    '-o',
    `jsonpath=${field}`,
  ])
  return found.split(' ')
}

function inClient(cluster: LabCluster, script: string): Promise<string> {
  return cluster.kubectl.run(['exec', 'client', `--namespace=${namespace}`, '--', 'bash', '-c', script])
}

/** A new client is not told at once when kube-proxy has written its rules. */
function answers(cluster: LabCluster, script: string, wanted: string | RegExp): Promise<void> {
  return eventually(async () => expect(await inClient(cluster, script)).toMatch(wanted), 30_000)
}

describe.skipIf(skipsNodes()).each([
  { proxyMode: 'nftables', rules: ['nft', 'list', 'tables'], sign: 'kube-proxy' },
  { proxyMode: 'iptables', rules: ['iptables-save', '-t', 'nat'], sign: 'KUBE-SERVICES' },
] as const)('two clusters with nodes, in $proxyMode mode', ({ proxyMode, rules, sign }) => {
  const lab = useLab({ name: `pods-${proxyMode}`, count: 2, nodes: true, proxyMode })

  beforeAll(async () => {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: workload() })
    for (const index of [0, 1]) {
      const { kubectl } = lab.cluster(index)
      await kubectl.run(['create', '-f', '-'], input)
      await kubectl.run([
        'wait',
        '--for=condition=Ready',
        'pod',
        '--all',
        `--namespace=${namespace}`,
        '--timeout=60s',
      ])
    }
  })

  it('use that mode', async () => {
    const { place } = lab.cluster(0)
    expect(await run(place.command(rules), { lab: lab.folder })).toContain(sign)
  })

  it('reach pods of each other, over both families', async () => {
    const [east, west] = [lab.cluster(0), lab.cluster(1)]
    const [own] = await addressesOf(east, 'pod/client', '{.status.podIPs[*].ip}')
    const addresses = await addressesOf(west, 'pod/web', '{.status.podIPs[*].ip}')
    expect(addresses).toHaveLength(2)
    for (const address of addresses) {
      const answer = await inClient(east, `curl --silent --max-time 5 http://${inUrl(address)}:8080/`)
      expect(answer).toMatch(/^web /)
      if (!address.includes(':')) expect(answer).toContain(`web ${own}:`)
    }
  })

  it('reach Services at their addresses, over TCP and UDP and both families', async () => {
    const east = lab.cluster(0)
    const addresses = await addressesOf(east, 'service/web', '{.spec.clusterIPs[*]}')
    expect(addresses).toHaveLength(2)
    for (const address of addresses) {
      await answers(east, `curl --silent --max-time 5 http://${inUrl(address)}/`, /^web /)
      await answers(east, `echo | nc -u -w 1 ${address} 80`, /^web /)
    }
  })

  it('find Services by name', async () => {
    await answers(lab.cluster(0), 'curl --silent --max-time 5 http://web/', /^web /)
    const [address = ''] = await addressesOf(lab.cluster(1), 'service/web', '{.spec.clusterIPs[*]}')
    expect(await inClient(lab.cluster(1), 'dig +short web.shop.svc.cluster.local A')).toBe(`${address}\n`)
  })

  it('tell what a container printed', async () => {
    const { kubectl } = lab.cluster(0)
    await inClient(lab.cluster(0), 'curl --silent --max-time 5 http://web/printed')
    await eventually(async () =>
      expect(await kubectl.run(['logs', 'web', `--namespace=${namespace}`])).toContain('/printed'),
    )
  })

  it('reach the API server of their cluster with the rights of a ServiceAccount', async () => {
    const token = 'TOKEN=$(cat /var/run/secrets/kubernetes.io/serviceaccount/token)'
    const ca = '--cacert /var/run/secrets/kubernetes.io/serviceaccount/ca.crt'
    const call = `curl --silent ${ca} -H "Authorization: Bearer $TOKEN" https://kubernetes.default.svc/api/v1/namespaces`
    expect(await inClient(lab.cluster(0), `${token}; ${call}`)).toContain(
      'system:serviceaccount:shop:default',
    )
  })
})
