/**
 * What an API server is known by, kept in a folder: its authority, which signs its clients too, its serving certificate,
 * and its administrator's certificate.
 */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../kernel/clock.ts'
import { otherAuthorities } from './authorities.ts'
import {
  type ClientSubject,
  type Identity,
  issueClient,
  issueServing,
  makeAuthority,
  matches,
  readCertificate,
} from './certificate.ts'
import { readIdentity, writeIdentity } from './identity-file.ts'
import { renewalMs } from './renewal.ts'

export type ServerIdentityOptions = {
  readonly folder: string
  /** Common name of the authority. */
  readonly name: string
  /** Host names and addresses under which clients find the server. */
  readonly names: readonly [string, ...string[]]
  readonly clock: Clock
}

const dayMs = 86_400_000
export const authorityLifeMs = 10 * 365 * dayMs
const certificateLifeMs = 365 * dayMs

export class ServerIdentity {
  readonly authority: Identity
  readonly #options: ServerIdentityOptions
  /** PEM of the authorities that are trusted and sign nothing. */
  readonly #others: string
  #serving: Identity

  constructor(
    options: ServerIdentityOptions,
    authorities: { readonly authority: Identity; readonly others: string },
    serving: Identity,
  ) {
    this.#options = options
    this.authority = authorities.authority
    this.#others = authorities.others
    this.#serving = serving
  }

  /** PEM of every authority that clients of this server trust and that vouches for them; first the one that signs. */
  get caBundle(): string {
    return this.authority.certificate + this.#others
  }

  /** The serving certificate with its authority behind it, by which a joining member knows the hub. */
  get serving(): Identity {
    return { certificate: this.#serving.certificate + this.authority.certificate, key: this.#serving.key }
  }

  async renewServing(): Promise<void> {
    this.#serving = await newServing(this.#options, this.authority)
  }

  /** The certificate of a client of this server, kept in the server's folder. */
  client(name: string, subject: ClientSubject): Promise<Identity> {
    const { folder, clock } = this.#options
    return openClient({ file: join(folder, name), authority: this.authority, subject, clock })
  }
}

/** Opens what is in the folder and makes what is missing, broken or about to expire. */
export async function openServerIdentity(options: ServerIdentityOptions): Promise<ServerIdentity> {
  const { folder, name, clock } = options
  const authority = await openAuthority({ file: join(folder, 'ca'), name, clock })
  const isGoodServing = (identity: Identity): boolean =>
    isGood(identity, authority, clock) && options.names.every(n => answersTo(identity, n))
  const serving = await kept(join(folder, 'serving'), {
    isGood: isGoodServing,
    make: () => newServing(options, authority),
  })
  return new ServerIdentity(options, { authority, others: await otherAuthorities(folder) }, serving)
}

/**
 * The authority in `<file>.crt` and `<file>.key`, made when there is none. One that is damaged is not replaced: everybody
 * who trusts it would be cut off.
 */
export async function openAuthority(options: {
  readonly file: string
  readonly name: string
  readonly clock: Clock
}): Promise<Identity> {
  const { file, name, clock } = options
  const { certificate, key = '' } = await readIdentity(file)
  if (certificate === undefined) {
    const made = await makeAuthority(name, { clock, lifetimeMs: authorityLifeMs })
    await writeIdentity(file, made)
    return made
  }
  const authority = { certificate, key }
  if (!matches(authority)) {
    throw new Error(`the authority ${file}.crt is damaged or has no key that matches in ${file}.key`)
  }
  return authority
}

/** A client's certificate in `<file>.crt` and `<file>.key`, made when it is missing, broken or about to expire. */
export function openClient(options: {
  readonly file: string
  readonly authority: Identity
  readonly subject: ClientSubject
  readonly clock: Clock
}): Promise<Identity> {
  const { file, authority, subject, clock } = options
  return kept(file, {
    isGood: identity => isGood(identity, authority, clock),
    make: () => issueClient(authority, subject, { clock, lifetimeMs: certificateLifeMs }),
  })
}

async function newServing(options: ServerIdentityOptions, authority: Identity): Promise<Identity> {
  const lifetime = { clock: options.clock, lifetimeMs: certificateLifeMs }
  const serving = await issueServing(authority, options.names, lifetime)
  await writeIdentity(join(options.folder, 'serving'), serving)
  return serving
}

type Keeping = { isGood(identity: Identity): boolean; make(): Promise<Identity> }

async function kept(file: string, { isGood: good, make }: Keeping): Promise<Identity> {
  const { certificate, key } = await readIdentity(file)
  if (certificate !== undefined && key !== undefined && good({ certificate, key }))
    return { certificate, key }
  const made = await make()
  await writeIdentity(file, made)
  return made
}

function isGood(identity: Identity, authority: Identity, clock: Clock): boolean {
  if (!matches(identity)) return false
  const issuer = new X509Certificate(authority.certificate)
  const vouched = new X509Certificate(identity.certificate).verify(issuer.publicKey)
  return vouched && renewalMs(readCertificate(identity.certificate), 0) > clock.now()
}

function answersTo(identity: Identity, name: string): boolean {
  const certificate = new X509Certificate(identity.certificate)
  return (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined
}
