/**
 * How a server gets another authority without losing anybody: first the next one is made known beside the present one, then
 * the two change places, and at last the former one is let go. Each step is taken while the server is down; one that was
 * interrupted is taken again.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../kernel/clock.ts'
import { type Identity, makeAuthority, matches, readCertificate } from './certificate.ts'
import { readIfThere, writePrivate } from './file.ts'
import { readIdentity, writeIdentity } from './identity-file.ts'

const nextFile = 'ca-next'
const formerFile = 'ca-former'
const lifeMs = 10 * 365 * 86_400_000

/** PEM of the authorities that are trusted beside the present one, in the folder of a server. */
export async function otherAuthorities(folder: string): Promise<string> {
  const others = await Promise.all(
    [nextFile, formerFile].map(name => readIfThere(join(folder, `${name}.crt`))),
  )
  return others.join('')
}

/** The next authority, made when there is none yet. */
export async function prepareAuthority(folder: string, name: string, clock: Clock): Promise<Identity> {
  const there = await readNext(folder)
  if (there !== undefined) return there
  const made = await makeAuthority(name, { clock, lifetimeMs: lifeMs })
  await writeIdentity(join(folder, nextFile), made)
  return made
}

/** From now on the next authority signs; the former one is still trusted. */
export async function switchAuthority(folder: string): Promise<Identity> {
  const next = await readNext(folder)
  if (next === undefined)
    throw new Error(`there is no next authority in ${folder}: isthmus authority prepare`)
  const present = (await readIfThere(join(folder, 'ca.crt'))) ?? ''
  const former = join(folder, `${formerFile}.crt`)
  const known = (await readIfThere(former)) ?? ''
  if (present !== next.certificate && !known.includes(present)) await writePrivate(former, known + present)
  await writeIdentity(join(folder, 'ca'), next)
  await Promise.all(['key', 'crt'].map(end => rm(join(folder, `${nextFile}.${end}`), { force: true })))
  return next
}

/** Nothing that a former authority signed is good any more. */
export async function retireAuthorities(folder: string): Promise<void> {
  await rm(join(folder, `${formerFile}.crt`), { force: true })
}

/** By which people tell authorities apart, in the order of the bundle: the one that signs comes first. */
export function authorityNames(caBundle: string): readonly string[] {
  const texts = caBundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return texts.map(text => readCertificate(text).sha256.slice(0, 16))
}

async function readNext(folder: string): Promise<Identity | undefined> {
  const { certificate = '', key = '' } = await readIdentity(join(folder, nextFile))
  const next = { certificate, key }
  return matches(next) ? next : undefined
}
