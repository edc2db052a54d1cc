/** Where the objects of a server are: in its home, or in an etcd, which the home then says. Never in both. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere, writePrivate } from '../identity/file.ts'

/** The database in a home. */
export function databaseIn(home: string): string {
  return join(home, 'store')
}

function noteIn(home: string): string {
  return join(home, 'store-in-etcd')
}

/** The etcd that has the objects of a server; undefined when they are in its home, or nowhere yet. */
export async function etcdOfHome(home: string): Promise<string | undefined> {
  return (await readIfThere(noteIn(home)))?.trim()
}

/**
 * Throws one sentence when the objects of a server are elsewhere than it is told by now: it would begin with none. `place`
 * is the etcd that it is told.
 */
export async function requirePlace(home: string, place: string | undefined): Promise<void> {
  const known = await etcdOfHome(home)
  if (place === undefined) {
    if (known === undefined) return
    throw new Error(
      `the objects of this server are in ${known}: start it with --store, or remove ${noteIn(home)} to begin with none`,
    )
  }
  if (existsSync(databaseIn(home))) {
    throw new Error(
      `the objects of this server are in ${databaseIn(home)}: start it without --store, or move that away to begin with none`,
    )
  }
  if (known !== place) await writePrivate(noteIn(home), `${place}\n`)
}

/** Throws one sentence when the objects are in an etcd; `instead` says what to do there. */
export async function requireDatabase(home: string, instead: (note: string) => string): Promise<void> {
  const place = await etcdOfHome(home)
  if (place === undefined) return
  throw new Error(`the objects of the server in ${home} are in ${place}: ${instead(noteIn(home))}`)
}
