import { type JoinToken, JoinTokenKind } from '../api/kinds/join-token.ts'
import { type Cluster, resource } from '../cluster/cluster.ts'
import { readCertificate } from '../identity/certificate.ts'
import { formatJoinToken, newTokenSecret, secretSha256 } from '../identity/join-token.ts'
import { type Clock, toTime } from '../kernel/clock.ts'

export type TokenOptions = {
  /** The only cluster id that may join with it; absent for any that is not yet a member. */
  readonly clusterId: string | undefined
  readonly lifetimeMs: number
  /** The addresses under which members reach the hub. */
  readonly servers: readonly string[]
  /** The hub's authority, PEM. */
  readonly ca: string
  readonly clock: Clock
}

/** Makes a join token on the hub and answers it as the line that the new member is given. */
export async function createToken(hub: Cluster, options: TokenOptions, signal: AbortSignal): Promise<string> {
  const { clusterId, lifetimeMs, servers, ca, clock } = options
  const { id, secret } = newTokenSecret()
  const tokens = resource(JoinTokenKind)
  const token: JoinToken = {
    apiVersion: tokens.apiVersion,
    kind: tokens.kind,
    metadata: { name: id },
    spec: {
      secretSHA256: secretSha256(secret),
      expirationTime: toTime(clock.now() + lifetimeMs),
      ...(clusterId === undefined ? {} : { clusterID: clusterId }),
    },
  }
  await hub.create(tokens, token, signal)
  return formatJoinToken({ id, secret, authoritySha256: readCertificate(ca).sha256, servers })
}
