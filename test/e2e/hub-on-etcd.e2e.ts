// deploy/example/hub-on-etcd on a cluster: three hubs as pods, on an etcd with TLS that runs on the node.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { issueClient, issueServing, makeAuthority } from '../../src/identity/certificate.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { copyOfDeploy } from '../support/deploy.ts'
import { eventually } from '../support/eventually.ts'
import { hubNamespace, kubectlOfHub, provideImage, replaceIn } from './installation.ts'
import { skipsNodes } from './lab/capabilities.ts'
import { type Daemon, daemon } from './lab/daemon.ts'
import { programs } from './lab/programs.ts'
import { useLab } from './lab/use-lab.ts'

type Pod = {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string }
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

const deployment = ['deployment/isthmus-hub', '-n', hubNamespace]
const patienceMs = 120_000

describe.skipIf(skipsNodes())('a hub of three pods on an etcd', () => {
  const lab = useLab({ name: 'hub-etcd', count: 1, nodes: true })
  const kubectl = (...args: readonly string[]): Promise<string> => lab.cluster(0).kubectl.run(args)
  let etcd: Daemon
  let onHub: (...args: readonly string[]) => Promise<string>

  beforeAll(async () => {
    const overlay = join(copyOfDeploy(lab.folder), 'example/hub-on-etcd')
    etcd = await startEtcd(overlay)
    const [address] = lab.cluster(0).addresses.node
    replaceIn(overlay, 'hub-1.example.com:30443,hub-2.example.com:30443', `${address}:30443`)
    replaceIn(
      overlay,
      'etcd-1.example.com:2379,etcd-2.example.com:2379,etcd-3.example.com:2379',
      `${address}:2379`,
    )
    await provideImage(lab.folder, [lab.cluster(0)])
    await kubectl('apply', '-k', overlay)
    await kubectl('rollout', 'status', ...deployment, '--timeout=180s')
    onHub = await kubectlOfHub(lab.up(), lab.cluster(0))
  }, 600_000)

  /** Writes what the overlay asks for beside it; who has no such certificate is refused. */
  async function startEtcd(overlay: string): Promise<Daemon> {
    const [address] = lab.cluster(0).addresses.node
    const lifetime = { clock: systemClock, lifetimeMs: 3_600_000 }
    const authority = await makeAuthority('etcd', lifetime)
    const serving = await issueServing(authority, [address], lifetime)
    const client = await issueClient(authority, { user: 'isthmus-hub', groups: [] }, lifetime)
    const write = (name: string, pem: string): string => {
      const path = join(overlay, name)
      writeFileSync(path, pem)
      return path
    }
    const ca = write('etcd-ca.crt', authority.certificate)
    write('etcd-client.crt', client.certificate)
    write('etcd-client.key', client.key)
    const url = `https://${address}:2379`
    const argv = [
      programs(false).find('etcd') ?? 'etcd',
      `--data-dir=${join(lab.folder, 'hub-etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      '--listen-peer-urls=http://127.0.0.1:2380',
      '--initial-advertise-peer-urls=http://127.0.0.1:2380',
      '--initial-cluster=default=http://127.0.0.1:2380',
      `--cert-file=${write('serving.crt', serving.certificate)}`,
      `--key-file=${write('serving.key', serving.key)}`,
      `--trusted-ca-file=${ca}`,
      '--client-cert-auth',
      '--unsafe-no-fsync',
    ]
    const log = join(lab.cluster(0).folder, 'log/hub-etcd.log')
    const started = daemon({ lab: lab.folder, log, place: lab.cluster(0).place, argv: () => argv })
    started.start()
    return started
  }

  async function pods(): Promise<readonly Pod[]> {
    const all = ['get', 'pods', '-n', hubNamespace, '-l', 'app.kubernetes.io/component=hub', '-o', 'json']
    const { items } = JSON.parse(await kubectl(...all)) as { items: Pod[] } // a list
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  }

  const readyPods = async (): Promise<readonly string[]> =>
    (await pods())
      .filter(({ status }) => status.conditions?.some(c => c.type === 'Ready' && c.status === 'True'))
      .map(({ metadata }) => metadata.name)

  /** The pod whose process leads. */
  async function leader(): Promise<string> {
    const lease = [
      '-n',
      'kube-system',
      'get',
      'lease',
      'isthmus-hub',
      '-o',
      'jsonpath={.spec.holderIdentity}',
    ]
    const holder = await onHub(...lease)
    return holder.slice(0, holder.indexOf('_'))
  }

  async function followed(before: string): Promise<string> {
    return eventually(async () => {
      const now = await leader()
      expect(await readyPods()).toContain(now)
      expect(now).not.toBe(before)
      return now
    }, patienceMs)
  }

  it('is ready in all of them, and one of them leads', async () => {
    expect(await readyPods()).toHaveLength(3)
    expect(await readyPods()).toContain(await leader())
    const logs = await Promise.all((await readyPods()).map(name => kubectl('logs', '-n', hubNamespace, name)))
    expect(logs.filter(log => log.includes('"this process leads"'))).toHaveLength(1)
    expect(await kubectl('get', 'pvc', '-n', hubNamespace, '-o', 'name')).toBe('')
  })

  it('has the same objects and one authority in all of them', async () => {
    await onHub('create', 'configmap', 'written', '--from-literal=a=b')
    // Each time another pod may answer; all are trusted by the one authority that this kubeconfig names.
    for (let time = 0; time < 10; time++) {
      expect(await onHub('get', 'configmap', 'written', '-o', 'jsonpath={.data.a}')).toBe('b')
    }
    const read = 'process.stdout.write(fs.readFileSync(process.env.ISTHMUS_HOME + "/pki/ca.crt"))'
    const authorities = await Promise.all(
      (await readyPods()).map(name =>
        kubectl('exec', name, '-n', hubNamespace, '--', 'node', '--eval', read),
      ),
    )
    expect(new Set(authorities).size).toBe(1)
    expect(authorities[0]).toContain('BEGIN CERTIFICATE')
  })

  it('is led by another one when the leader is deleted, and is whole again', async () => {
    const before = await leader()
    await kubectl('delete', 'pod', before, '-n', hubNamespace, '--wait=false')
    const after = await followed(before)
    await onHub('create', 'configmap', `led-by-${after}`)
    await eventually(async () => expect(await readyPods()).toHaveLength(3), patienceMs)
  })

  it('answers while its pods are replaced one after the other', async () => {
    const old = await readyPods()
    const answered: string[] = []
    let isOver: boolean = false
    const reading = (async () => {
      while (!isOver) answered.push(await onHub('get', 'configmap', 'written', '-o', 'name'))
    })()
    try {
      await kubectl('rollout', 'restart', ...deployment)
      await kubectl('rollout', 'status', ...deployment, '--timeout=180s')
    } finally {
      isOver = true
    }
    await reading
    expect(new Set(answered)).toEqual(new Set(['configmap/written\n']))
    const now = await eventually(async () => {
      const found = await readyPods()
      expect(found).toHaveLength(3)
      return found
    }, patienceMs)
    expect(now.filter(name => old.includes(name))).toEqual([])
    await followed('')
  }, 300_000)

  it('is not ready while etcd is away, does not restart for it, and goes on when it is back', async () => {
    await etcd.stop('SIGKILL')
    await eventually(async () => expect(await readyPods()).toEqual([]), patienceMs)
    etcd.start()
    await eventually(async () => expect(await readyPods()).toHaveLength(3), patienceMs)
    expect(await onHub('get', 'configmap', 'written', '-o', 'name')).toBe('configmap/written\n')
    const counts = '{.items[*].status.containerStatuses[*].restartCount}'
    expect(await kubectl('get', 'pods', '-n', hubNamespace, '-o', `jsonpath=${counts}`)).toBe('0 0 0')
  }, 300_000)

  it('lets one pod be evicted at a time', async () => {
    const allowed = ['get', 'pdb', 'isthmus-hub', '-n', hubNamespace, '-o']
    await eventually(async () =>
      expect(await kubectl(...allowed, 'jsonpath={.status.disruptionsAllowed}')).toBe('1'),
    )
  })
})
