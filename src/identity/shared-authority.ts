/**
 * The authority of servers that share a store. It is kept in the store, since each of them signs and all are to be trusted
 * alike; a server works on a copy in its own folder, which is made anew at each start.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../kernel/clock.ts'
import { makeAuthority } from './certificate.ts'
import { readIfThere, writePrivate } from './file.ts'
import { authorityLifeMs } from './server-identity.ts'

/** Text by the name of the file, as `authorities.ts` has them in a folder. Keys come before their certificates. */
export type AuthorityFiles = Readonly<Record<string, string>>

/** Where they are kept for all. */
export interface SharedFiles {
  /** Undefined when there are none yet. */
  read(): Promise<AuthorityFiles | undefined>
  /** Keeps them if nobody was faster; answers what is kept then. */
  offer(files: AuthorityFiles): Promise<AuthorityFiles>
  /** Replaces exactly what was read last. Throws when somebody else has. */
  replace(files: AuthorityFiles): Promise<void>
}

const names = ['ca.key', 'ca.crt', 'ca-next.key', 'ca-next.crt', 'ca-former.crt']
const trusted = ['ca.crt', 'ca-next.crt', 'ca-former.crt']

export type SharedAuthorityOptions = {
  readonly folder: string
  /** Common name of the authority. */
  readonly name: string
  readonly clock: Clock
}

/**
 * Brings the folder to what all servers have. The first of all makes the authority, or brings its own along. Throws when
 * the folder has one that the others do not know: then it is the folder of another server, or the store is.
 */
export async function copySharedAuthority(
  shared: Pick<SharedFiles, 'read' | 'offer'>,
  { folder, name, clock }: SharedAuthorityOptions,
): Promise<void> {
  const own = await authorityFilesIn(folder)
  const kept = (await shared.read()) ?? (await shared.offer(own ?? (await newAuthority(name, clock))))
  if (own !== undefined && !isKnown(own['ca.crt'], kept)) {
    throw new Error(
      `the authority ${join(folder, 'ca.crt')} is not that of the other servers of the store: remove it when this home was that of another server`,
    )
  }
  await bringTo(folder, kept)
}

/** Takes a step in the folder, for all servers. */
export async function changeSharedAuthority<T>(
  shared: SharedFiles,
  options: SharedAuthorityOptions,
  step: () => Promise<T>,
): Promise<T> {
  await copySharedAuthority(shared, options)
  const done = await step()
  await shared.replace((await authorityFilesIn(options.folder)) ?? {})
  return done
}

async function newAuthority(name: string, clock: Clock): Promise<AuthorityFiles> {
  const { certificate, key } = await makeAuthority(name, { clock, lifetimeMs: authorityLifeMs })
  return { 'ca.key': key, 'ca.crt': certificate }
}

function isKnown(certificate: string | undefined, kept: AuthorityFiles): boolean {
  return trusted.some(file => certificate !== undefined && kept[file]?.includes(certificate))
}

/** Undefined when there is no authority in the folder. */
export async function authorityFilesIn(folder: string): Promise<AuthorityFiles | undefined> {
  const texts = await Promise.all(
    names.map(async name => [name, await readIfThere(join(folder, name))] as const),
  )
  const files = Object.fromEntries(
    texts.flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  )
  return files['ca.crt'] === undefined ? undefined : files
}

async function bringTo(folder: string, files: AuthorityFiles): Promise<void> {
  for (const name of names) {
    const text = files[name]
    const path = join(folder, name)
    if (text === undefined) await rm(path, { force: true })
    else if ((await readIfThere(path)) !== text) await writePrivate(path, text)
  }
}
