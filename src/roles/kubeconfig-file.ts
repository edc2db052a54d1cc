import { toYaml } from '../codec/yaml.ts'
import type { Identity } from '../identity/certificate.ts'
import { writePrivate } from '../identity/file.ts'

export type KubeconfigContext = {
  /** Of the context, the cluster and the user. */
  readonly name: string
  readonly server: string
  /** PEM. */
  readonly ca: string
  /** What the server's certificate is for, when that is not its address. */
  readonly serverName?: string
  readonly user: Identity
}

/** Writes a kubeconfig that needs no other file; the first context is the current one. */
export async function writeKubeconfig(path: string, contexts: readonly KubeconfigContext[]): Promise<void> {
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': contexts[0]?.name ?? '',
    contexts: contexts.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
    clusters: contexts.map(({ name, server, ca, serverName }) => ({
      name,
      cluster: {
        server,
        'certificate-authority-data': base64(ca),
        ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
      },
    })),
    users: contexts.map(({ name, user }) => ({
      name,
      user: {
        'client-certificate-data': base64(user.certificate),
        'client-key-data': base64(user.key),
      },
    })),
  }
  await writePrivate(path, toYaml(document))
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
