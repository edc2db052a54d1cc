/**
 * What a ServiceImport tells of the exports that it is made of, in an annotation: a cluster can then say what another
 * export would change there, also after a restart and without its hub.
 */
import { compileCheck } from './derive/structural.ts'
import { Walk } from './derive/visit.ts'
import { type Contributor, contributor } from './kinds/cluster-set-service.ts'
import type { ObjectMeta } from './meta.ts'
import { type Infer, s } from './schema.ts'
import { wellKnown } from './well-known.ts'

/** An object has room for 256 KiB of annotations, and exported ones may take half of it. */
const maxBytes = 64 * 1024

const entries = s.list(contributor)
const check = compileCheck(entries.json)

/** Undefined when it is not known what every cluster exports, or when it is too much to be told. */
export function exportsText(contributors: readonly Contributor[]): string | undefined {
  if (contributors.some(({ definition }) => definition === undefined)) return undefined
  const text = JSON.stringify(
    contributors.map(
      ({ taint: _taint, unreachable: _unreachable, draining: _draining, region: _region, ...entry }) => entry,
    ),
  )
  return Buffer.byteLength(text) > maxBytes ? undefined : text
}

/** Undefined when the import tells nothing, or somebody has edited it. */
export function exportsOf({ annotations }: ObjectMeta): readonly Contributor[] | undefined {
  const text = annotations?.[wellKnown.exports]
  if (text === undefined || text.length > maxBytes) return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    return isEntries(parsed) ? parsed : undefined
  } catch {
    // Not JSON any more; the agent writes it anew.
    return undefined
  }
}

function isEntries(value: unknown): value is Infer<typeof entries> {
  const walk = new Walk()
  check(value, walk)
  return walk.errors.length === 0
}
