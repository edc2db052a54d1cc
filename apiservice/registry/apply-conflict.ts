/** The answer when others hold what an apply would change, in the words that kubectl looks for. */
import type { Conflict } from '../../src/api/derive/apply-config.ts'
import { pathsOf } from '../../src/api/derive/field-set.ts'
import type { FieldManager } from '../../src/api/derive/managed-fields.ts'
import { byText } from '../../src/api/order.ts'
import { applyFailed, type StatusError } from '../../src/kernel/errors.ts'
import { shown } from '../../src/kernel/field-error.ts'
import type { Steps } from '../../src/kernel/turn.ts'

/** 409 with a cause for each field and manager. */
export function* applyConflict(conflicts: readonly Conflict[]): Steps<StatusError> {
  const held: Held[] = []
  for (const { manager, fields } of conflicts) {
    yield
    held.push({ manager: managerText(manager), paths: pathsOf(fields) })
  }
  held.sort((a, b) => byText(a.manager, b.manager))
  yield
  const causes = held.flatMap(({ manager, paths }) =>
    paths.map(field => ({ reason: 'FieldManagerConflict', message: `conflict with ${manager}`, field })),
  )
  yield
  const [only] = causes
  const message =
    causes.length === 1 && only !== undefined
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
      : `Apply failed with ${causes.length} conflicts: ${held.map(listed).join('\n')}`
  return applyFailed(message, causes)
}

type Held = { readonly manager: string; readonly paths: readonly string[] }

function listed({ manager, paths }: Held): string {
  return [`conflicts with ${manager}:`, ...paths.map(path => `- ${path}`)].join('\n')
}

function managerText({ name, operation, apiVersion, subresource }: FieldManager): string {
  const through = subresource === '' ? '' : ` with subresource ${shown(subresource)}`
  return `${shown(name)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}
