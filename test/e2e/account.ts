// A ServiceAccount of a cluster, for a process of ours that is no pod: with its token, and so with its rights alone.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { toYaml } from '../../src/codec/yaml.ts'
import type { LabCluster } from './lab/cluster.ts'

type Account = { readonly namespace: string; readonly name: string }

/** Writes a kubeconfig with a token of the account, good for two hours. `server` is the API server as the process sees it. */
export async function writeAccountKubeconfig(
  path: string,
  cluster: LabCluster,
  { namespace, name }: Account,
  server = cluster.server,
): Promise<void> {
  const token = await cluster.kubectl.run(['create', 'token', name, '-n', namespace, '--duration=2h'])
  const ca = cluster.identities.of('ca').certificate
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'cluster',
    contexts: [{ name: 'cluster', context: { cluster: 'cluster', user: 'account' } }],
    clusters: [
      {
        name: 'cluster',
        cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
      },
    ],
    users: [{ name: 'account', user: { token: token.trim() } }],
  }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, toYaml(kubeconfig), { mode: 0o600 })
}
