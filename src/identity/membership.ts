/**
 * A member's side of joining: what it knows of its hub and the certificate that the hub gave it, kept in a folder. The
 * key is written before the hub is asked, so that a member whose answer was lost asks again with the same key.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { MemberClusterKind } from '../api/kinds/member-cluster.ts'
import { type MemberJoin, MemberJoinKind } from '../api/kinds/member-join.ts'
import { membershipRefusal } from '../api/membership-refusal.ts'
import { ClusterClient } from '../cluster/client.ts'
import { type Cluster, resource } from '../cluster/cluster.ts'
import type { Credentials } from '../cluster/transport.ts'
import { errorText, within } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import { badAnswer, isReason } from '../kernel/errors.ts'
import { authorityNames } from './authorities.ts'
import { type CertificateFacts, makeKey, makeRequest, matches, readCertificate } from './certificate.ts'
import { readIfThere, writePrivate } from './file.ts'
import { fetchAuthority } from './hub-anchor.ts'
import { type JoinToken, parseJoinToken } from './join-token.ts'

const joins = resource(MemberJoinKind)
const members = resource(MemberClusterKind)
const answerWithinMs = 2_000

export type MembershipOptions = {
  readonly folder: string
  readonly clusterId: string
  readonly clock: Clock
}

/** What is kept of the hub; `certificate` and `key` are in it too, so that they change together. */
type Record = {
  readonly clusterId: string
  readonly servers: readonly string[]
  readonly namespace: string
  readonly caBundle: string
  readonly certificate: string
  readonly key: string
}

export class Membership {
  readonly #options: MembershipOptions
  #record: Record

  constructor(options: MembershipOptions, record: Record) {
    this.#options = options
    this.#record = record
  }

  get clusterId(): string {
    return this.#record.clusterId
  }

  get servers(): readonly string[] {
    return this.#record.servers
  }

  /** The namespace of the hub in which this member writes. */
  get namespace(): string {
    return this.#record.namespace
  }

  get certificate(): CertificateFacts {
    return readCertificate(this.#record.certificate)
  }

  /** For a client of the hub; new ones after each renewal. */
  credentials(): Credentials {
    const { caBundle, certificate, key } = this.#record
    return { ca: caBundle, cert: certificate, key }
  }

  /** From now on the hub is asked there. */
  async follow(servers: readonly string[]): Promise<void> {
    if (isDeepStrictEqual(servers, this.#record.servers)) return
    await this.#become({ ...this.#record, servers })
  }

  /** On disk first: what is only known here would be lost at the next start, and nobody would try again. */
  async #become(record: Record): Promise<void> {
    await save(this.#options.folder, record)
    this.#record = record
  }

  /** The authorities of the hub that it trusts, by name; the one that signed its certificate comes first. */
  get trusts(): readonly string[] {
    return authorityNames(this.#record.caBundle)
  }

  /** As `renew`, when the hub has other authorities than before; answers whether it has. */
  async followAuthorities(hub: Cluster, signal: AbortSignal): Promise<boolean> {
    const { caBundle } = await signed(hub, this.clusterId, this.#record.key, signal)
    if (caBundle === this.#record.caBundle) return false
    await this.renew(hub, signal)
    return true
  }

  /** Has a new key signed with the present certificate. */
  async renew(hub: Cluster, signal: AbortSignal): Promise<void> {
    const key = await makeKey()
    const answer = await signed(hub, this.clusterId, key, signal)
    await this.#become({ ...this.#record, ...answer, key })
  }
}

/** What an earlier join left in the folder. Throws an `Error` when it is of another cluster id or damaged. */
export async function openMembership(options: MembershipOptions): Promise<Membership | undefined> {
  const path = recordPath(options.folder)
  const text = await readIfThere(path)
  if (text === undefined) return undefined
  const record = parseRecord(text)
  if (record === undefined) throw new Error(`${path} is damaged; remove it and join with a new token`)
  if (record.clusterId !== options.clusterId) {
    throw new Error(
      `${path} is of the member "${record.clusterId}", not "${options.clusterId}"; use another --home or that cluster id`,
    )
  }
  // A release that joined with a key kept for the next try left it behind.
  await rm(pendingKeyPath(options.folder), { force: true })
  return new Membership(options, record)
}

/** What the hub says of a member, with its words: `unknown` when it cannot be asked, or says something else. */
export type Standing = { readonly is: 'member' | 'shut out' | 'gone' | 'unknown'; readonly why: string }

/** Asks the hub, for at most two seconds. Rejects only when the signal aborts. */
export async function askStanding(
  membership: Membership,
  clock: Clock,
  signal: AbortSignal,
): Promise<Standing> {
  const credentials = async (): Promise<Credentials> => membership.credentials()
  const hub = new ClusterClient({ name: 'hub', servers: membership.servers, credentials, clock })
  try {
    await within(
      clock,
      answerWithinMs,
      () => new Error('no answer within 2 s'),
      inner => hub.get(members, { name: membership.clusterId }, AbortSignal.any([signal, inner])),
    )
    return { is: 'member', why: '' }
  } catch (thrown) {
    signal.throwIfAborted()
    return { is: standingOf(thrown, membership.clusterId), why: errorText(thrown) }
  } finally {
    hub.close()
  }
}

function standingOf(thrown: unknown, clusterId: string): Standing['is'] {
  if (isReason(thrown, 'Unauthorized')) return 'gone'
  const refusal = membershipRefusal(thrown, clusterId)
  if (refusal === undefined) return 'unknown'
  return refusal === 'not accepted' ? 'shut out' : 'gone'
}

/** As if it had never joined. */
export async function forgetMembership(folder: string): Promise<void> {
  await rm(recordPath(folder), { force: true })
}

/** Joins the ClusterSet of the hub that made the token. Throws what went wrong. */
export async function joinHub(
  token: JoinToken,
  options: MembershipOptions,
  signal: AbortSignal,
): Promise<Membership> {
  const { folder, clusterId, clock } = options
  const ca = await fetchAuthority(token.servers, token.authoritySha256, clock, signal)
  const key = await pendingKey(folder)
  const credentials: Credentials = { ca, token: `${token.id}.${token.secret}` }
  const hub = new ClusterClient({
    name: 'hub',
    servers: token.servers,
    credentials: async () => credentials,
    clock,
  })
  try {
    const answer = await signed(hub, clusterId, key, signal)
    const record: Record = { clusterId, servers: token.servers, ...answer, key }
    await save(folder, record)
    // A later join, after a revocation, shall not have the old key signed again.
    await rm(pendingKeyPath(folder), { force: true })
    return new Membership(options, record)
  } catch (thrown) {
    // The hub tells strangers nothing more.
    if (!isReason(thrown, 'Unauthorized')) throw thrown
    throw new Error('the hub does not take the join token: it has expired or is mistyped; create another one')
  } finally {
    hub.close()
  }
}

/** Throws one sentence when the text is no join token. */
export function readToken(text: string): JoinToken {
  const token = parseJoinToken(text)
  if (token === undefined) {
    throw new Error('the join token is not of the form isthmus://<id>.<secret>.<hash>@<host>:<port>')
  }
  return token
}

function pendingKeyPath(folder: string): string {
  return join(folder, 'hub-pending.key')
}

async function pendingKey(folder: string): Promise<string> {
  const path = pendingKeyPath(folder)
  const kept = await readIfThere(path)
  if (kept?.startsWith('-----BEGIN PRIVATE KEY-----')) return kept
  const key = await makeKey()
  await writePrivate(path, key)
  return key
}

type Signed = Pick<Record, 'certificate' | 'caBundle' | 'namespace'>

async function signed(hub: Cluster, clusterID: string, key: string, signal: AbortSignal): Promise<Signed> {
  const asked: MemberJoin = {
    apiVersion: joins.apiVersion,
    kind: joins.kind,
    metadata: { name: '' },
    spec: { clusterID, request: await makeRequest(key) },
  }
  const { status } = await hub.create(joins, asked, signal)
  if (status === undefined || !matches({ certificate: status.certificate, key })) {
    throw badAnswer('the hub answered a join without a certificate for the key that it was asked to sign')
  }
  return status
}

function recordPath(folder: string): string {
  return join(folder, 'hub.json')
}

async function save(folder: string, record: Record): Promise<void> {
  await writePrivate(recordPath(folder), `${JSON.stringify(record, undefined, 2)}\n`)
}

function parseRecord(text: string): Record | undefined {
  try {
    // The file is our own and has been replaced as a whole; that it is usable is checked by its key.
    const record = JSON.parse(text) as Record
    return matches(record) && Array.isArray(record.servers) ? record : undefined
  } catch {
    // Said by the caller, with the path.
    return undefined
  }
}
