// The certificates of a cluster, from two authorities: that of clients and servers, and that of the front proxy.
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Identity, issueClient, issueServing, makeAuthority } from '../../../src/identity/certificate.ts'
import { systemClock } from '../../../src/kernel/clock.ts'

const clients = {
  admin: { user: 'admin', groups: ['system:masters'] },
  controllers: { user: 'system:kube-controller-manager', groups: [] },
  scheduler: { user: 'system:kube-scheduler', groups: [] },
  proxy: { user: 'system:kube-proxy', groups: [] },
  'apiserver-kubelet': { user: 'kube-apiserver-kubelet-client', groups: ['system:masters'] },
}

export type ClientName = keyof typeof clients | 'node'
type IdentityName = ClientName | 'ca' | 'front-proxy-ca' | 'front-proxy' | 'apiserver' | 'kubelet'

export type Identities = {
  of(name: IdentityName): Identity
  /** The file of a certificate or a key. */
  file(name: `${IdentityName}.crt` | `${IdentityName}.key` | 'service-accounts.key'): string
}

const lifetime = { clock: systemClock, lifetimeMs: 365 * 24 * 3_600_000 }
export const frontProxyName = 'front-proxy-client'

/** Makes them all, and writes them below `folder`. */
export async function makeIdentities(
  folder: string,
  names: {
    readonly apiServer: readonly [string, ...string[]]
    readonly node: readonly [string, ...string[]]
  },
): Promise<Identities> {
  mkdirSync(folder, { recursive: true })
  const ca = await makeAuthority('cluster', lifetime)
  const frontProxyCa = await makeAuthority('front-proxy', lifetime)
  const node = { user: `system:node:${names.node[0]}`, groups: ['system:nodes'] }
  const made = new Map<string, Identity>([
    ['ca', ca],
    ['front-proxy-ca', frontProxyCa],
    ['front-proxy', await issueClient(frontProxyCa, { user: frontProxyName, groups: [] }, lifetime)],
    ['apiserver', await issueServing(ca, names.apiServer, lifetime)],
    ['kubelet', await issueServing(ca, names.node, lifetime)],
  ])
  for (const [name, subject] of Object.entries({ ...clients, node })) {
    made.set(name, await issueClient(ca, subject, lifetime))
  }
  for (const [name, { certificate, key }] of made) {
    writeFileSync(join(folder, `${name}.crt`), certificate)
    writeFileSync(join(folder, `${name}.key`), key, { mode: 0o600 })
  }
  writeFileSync(join(folder, 'service-accounts.key'), newKey(), { mode: 0o600 })
  return {
    of: name => {
      const found = made.get(name)
      if (found === undefined) throw new Error(`there is no identity named ${name}`)
      return found
    },
    file: name => join(folder, name),
  }
}

/** What tokens of ServiceAccounts are signed with. */
function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ format: 'pem', type: 'sec1' }).toString()
}
