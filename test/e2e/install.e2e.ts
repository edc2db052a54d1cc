// docs/install.md on two clusters: pods of ours, with the rights of deploy/ alone, and pods that use what they bring about.
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { hubNamespace, type Installation, install, kubectlOfHub, memberNamespace } from './installation.ts'
import { skipsNodes } from './lab/capabilities.ts'
import type { LabCluster } from './lab/cluster.ts'
import { podImage } from './lab/images.ts'
import { useLab } from './lab/use-lab.ts'
import { trafficOf } from './open-ports.ts'

const namespace = 'shop'
const url = 'http://web.shop.svc.clusterset.local/'

function pod(name: string, command: readonly string[]): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name } },
    spec: { containers: [{ name, image: podImage, command }], terminationGracePeriodSeconds: 1 },
  }
}

/** `client` waits for what tests run in it. */
const client = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  pod('client', ['tools', 'pause']),
]
/** `web` says its host name. */
const server = [
  pod('web', ['tools', 'serve', '8080']),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace },
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  },
]

describe.skipIf(skipsNodes())('two clusters, the hub in one of them', () => {
  const lab = useLab({ name: 'install', count: 2, nodes: true })
  const [east, west] = [() => lab.cluster(0), () => lab.cluster(1)]
  let installation: Installation
  const apply = ({ kubectl }: LabCluster, items: readonly object[]): Promise<string> =>
    kubectl.run(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const answers = ({ kubectl }: LabCluster): Promise<void> =>
    eventually(async () => {
      const curl = ['curl', '--silent', '--max-time', '5', url]
      expect(await kubectl.run(['exec', 'client', '-n', namespace, '--', ...curl])).toMatch(/^web /)
    }, 60_000)

  beforeAll(async () => {
    installation = await install(lab.folder, [east(), west()])
    await apply(east(), [...client, ...server])
    await apply(west(), client)
    for (const { kubectl } of [east(), west()])
      await kubectl.run(['wait', '--for=condition=Ready', 'pod', '--all', '-n', namespace, '--timeout=60s'])
  }, 600_000)

  it('runs as nobody, on a root that it cannot write, as the namespaces demand', async () => {
    for (const [{ kubectl }, where] of [
      [east(), hubNamespace],
      [west(), memberNamespace],
    ] as const) {
      const labels = await kubectl.run(['get', 'namespace', where, '-o', 'jsonpath={.metadata.labels}'])
      expect(labels).toContain('"pod-security.kubernetes.io/enforce":"restricted"')
      const pods = JSON.parse(await kubectl.run(['get', 'pods', '-n', where, '-o', 'json'])).items
      expect(pods).not.toEqual([])
      for (const { spec } of pods) {
        expect(spec.containers[0].securityContext.readOnlyRootFilesystem).toBe(true)
      }
    }
  })

  // The network of these clusters enforces no NetworkPolicy: what pods do is held against what policies say.
  it('listens on what its NetworkPolicies let in, all of it, and dials what they let out', async () => {
    const dialled = new Map<string, readonly string[]>()
    for (const where of [hubNamespace, memberNamespace]) {
      for (const [pod, { real, allowed }] of Object.entries(await trafficOf(east(), where))) {
        expect(real.inward, pod).toEqual(allowed.inward)
        dialled.set(pod.replace(/-[^-]+-[^-]+$/, ''), real.outward)
        if (!allowed.outward.includes('everything'))
          expect(allowed.outward, pod).toEqual(expect.arrayContaining([...real.outward]))
      }
    }
    expect(Object.fromEntries(dialled)).toEqual({
      'isthmus-hub': [],
      'isthmus-member': ['TCP'],
      'isthmus-dns': ['TCP'],
    })
  })

  it('imports in one cluster what is exported in the other', async () => {
    await installation.block('kind: ServiceExport')
  })

  it('leads pods of both clusters by the name to the pods that are exported', async () => {
    await answers(west())
    await answers(east())
  })

  it('leads them there while hub and members are away, and goes on when they are back', async () => {
    const scale = async (replicas: number): Promise<void> => {
      for (const [{ kubectl }, where, name] of [
        [east(), hubNamespace, 'isthmus-hub'],
        [east(), memberNamespace, 'isthmus-member'],
        [west(), memberNamespace, 'isthmus-member'],
      ] as const) {
        await kubectl.run(['scale', `deployment/${name}`, '-n', where, `--replicas=${replicas}`])
        const until = replicas === 0 ? '--for=delete' : '--for=condition=Ready'
        const component = `app.kubernetes.io/component=${name.replace('isthmus-', '')}`
        await eventually(() =>
          kubectl.run(['wait', until, 'pod', '-l', component, '-n', where, '--timeout=60s']),
        )
      }
    }
    await scale(0)
    await expect(west().kubectl.run(['get', 'serviceimports', '-A'])).rejects.toThrow()
    await answers(west())
    await scale(1)
    await eventually(async () => {
      const found = await west().kubectl.run(['get', 'serviceimports', '-n', namespace])
      expect(found).toMatch(/^web .*True/m)
    }, 60_000)
  })

  it('goes away with the hub and the member dead, and lets go of what waits for them', async () => {
    const { kubectl } = west()
    await east().kubectl.run(['scale', 'deployment/isthmus-hub', '-n', hubNamespace, '--replicas=0'])
    await kubectl.run(['scale', 'deployment/isthmus-member', '-n', memberNamespace, '--replicas=0'])
    const pods = ['pod', '-l', 'app.kubernetes.io/component=member', '-n', memberNamespace]
    await kubectl.run(['wait', '--for=delete', ...pods, '--timeout=60s'])
    await kubectl.run(['create', 'namespace', 'waits'])
    await kubectl.run(['delete', 'namespace', 'waits', '--wait=false'])
    const output = await installation.block('apply -k deploy/uninstall')
    expect(output).toMatch(/^deleted: APIService v1beta1[.]multicluster[.]x-k8s[.]io$/m)
    expect(output).toMatch(/^deleted: Service shop\/derived-/m)
    expect(output).toMatch(/^left: ConfigMap kube-system\/coredns/m)
    expect(output).toMatch(/^left: on the hub: the MemberCluster .* \(the member does not run/m)
    await installation.block('delete -k deploy/uninstall')
    await kubectl.run(['wait', '--for=delete', 'namespace/waits', '--timeout=60s'])
    await expect(kubectl.run(['get', 'namespace', memberNamespace])).rejects.toThrow('not found')
    // Slices belong to derived Services: the garbage collector may be faster than the program.
    const everything = await kubectl.run(['get', 'services,endpointslices', '-A', '-o', 'name'])
    expect(everything).toContain('service/kubernetes')
    expect(everything).not.toMatch(/derived|isthmus|imported/)
    expect(await kubectl.run(['api-resources', '-o', 'name'])).not.toContain('multicluster')
    await kubectl.run(['delete', 'namespace', namespace, '--timeout=60s'])
  })

  it('goes away with hub and member alive, and tells the hub', async () => {
    const kubectl = (...args: readonly string[]): Promise<string> => east().kubectl.run(args)
    const onHub = await startHubAgain()
    expect(await onHub('get', 'memberclusters', '-o', 'name')).toMatch(/[/]east\n.*[/]west\n/)
    await onHub('wait', '--for=condition=Available', 'membercluster/east', '--timeout=60s')
    await kubectl('apply', '-k', join(lab.folder, 'deploy/uninstall'))
    const job = ['--namespace=isthmus-uninstall', 'job/isthmus-uninstall']
    await kubectl('wait', '--for=condition=Complete', ...job, '--timeout=120s')
    const output = await kubectl('logs', ...job)
    expect(output).toMatch(/^deleted: MemberCluster of this cluster, on the hub$/m)
    expect(output).toMatch(/^left: on the hub: the namespace of this cluster/m)
    expect(await onHub('get', 'memberclusters', '-o', 'name')).toBe('membercluster.hub.isthmus.dev/west\n')
  })

  /** Resolves with the hub's own kubectl when the hub is ready. */
  async function startHubAgain(): Promise<(...args: readonly string[]) => Promise<string>> {
    const hub = ['deployment/isthmus-hub', '-n', hubNamespace]
    await east().kubectl.run(['scale', ...hub, '--replicas=1'])
    await east().kubectl.run(['rollout', 'status', ...hub, '--timeout=120s'])
    return kubectlOfHub(lab.up(), east())
  }
})
