/** The answer when others hold what an apply would change, in the words that kubectl looks for. */
import type { Conflict } from '../../src/api/derive/apply-config.ts'
import { pathsOf } from '../../src/api/derive/field-set.ts'
import type { FieldManager } from '../../src/api/derive/managed-fields.ts'
import { byText } from '../../src/api/order.ts'
import { applyFailed, type StatusError } from '../../src/kernel/errors.ts'
import { shown } from '../../src/kernel/field-error.ts'

/** 409 with a cause for each field and manager. */
export function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const held = conflicts
    .map(({ manager, fields }) => ({ manager: managerText(manager), paths: pathsOf(fields) }))
    .toSorted((a, b) => byText(a.manager, b.manager))
  const causes = held.flatMap(({ manager, paths }) =>
    paths.map(field => ({ reason: 'FieldManagerConflict', message: `conflict with ${manager}`, field })),
  )
  const [only] = causes
  const message =
    causes.length === 1 && only !== undefined
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
      : `Apply failed with ${causes.length} conflicts: ${held.map(listed).join('\n')}`
  return applyFailed(message, causes)
}

function listed({ manager, paths }: { readonly manager: string; readonly paths: readonly string[] }): string {
  return [`conflicts with ${manager}:`, ...paths.map(path => `- ${path}`)].join('\n')
}

function managerText({ name, operation, apiVersion, subresource }: FieldManager): string {
  const through = subresource === '' ? '' : ` with subresource ${shown(subresource)}`
  return `${shown(name)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}
