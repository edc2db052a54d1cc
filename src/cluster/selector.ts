/** Label and field selectors in the grammar of k8s.io/apimachinery, as the in-process cluster evaluates them. */
import type { KubeObject } from '../api/meta.ts'
import { badRequest } from '../kernel/errors.ts'

export type Matcher = (object: KubeObject) => boolean

type Requirement = (labels: Readonly<Record<string, string>>) => boolean

/** Commas inside parentheses belong to a set, all others separate requirements. */
function terms(selector: string): readonly string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map(term => term.trim())
    .filter(term => term !== '')
}

function own(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}

function setRequirement(term: string): Requirement | undefined {
  const [, key, operator, list] = /^([^\s!=<>]+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(term) ?? []
  if (key === undefined || list === undefined) return undefined
  const values = new Set(list.split(',').map(value => value.trim()))
  const holds = (labels: Readonly<Record<string, string>>): boolean => {
    const value = own(labels, key)
    return value !== undefined && values.has(value)
  }
  return operator === 'in' ? holds : labels => !holds(labels)
}

function equalityRequirement(term: string): Requirement | undefined {
  const [, key, operator, value] = /^([^\s!=<>]+)\s*(!=|==?)\s*([^\s!=<>]*)$/.exec(term) ?? []
  if (key === undefined || value === undefined) return undefined
  return operator === '!=' ? labels => own(labels, key) !== value : labels => own(labels, key) === value
}

function existenceRequirement(term: string): Requirement | undefined {
  const [, not, key] = /^(!?)\s*([^\s!=<>]+)$/.exec(term) ?? []
  if (key === undefined) return undefined
  return labels => (own(labels, key) !== undefined) === (not === '')
}

/** Throws `BadRequest` when the text is no selector. `>` and `<` are not supported here. */
export function labelMatcher(selector: string): Matcher {
  const requirements = terms(selector).map(term => {
    const found = setRequirement(term) ?? equalityRequirement(term) ?? existenceRequirement(term)
    if (found === undefined) throw badRequest(`unable to parse requirement: ${term}`)
    return found
  })
  return object => requirements.every(holds => holds(object.metadata.labels ?? {}))
}

function fieldAt(object: KubeObject, path: string): string {
  let value: unknown = object
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return ''
    value = (value as Readonly<Record<string, unknown>>)[step] // an object that has the property
  }
  return value === undefined || value === null ? '' : String(value)
}

/** Any path may be selected on; servers allow only those that a kind declares. Throws `BadRequest`. */
export function fieldMatcher(selector: string): Matcher {
  const requirements = selector
    .split(',')
    .filter(term => term.trim() !== '')
    .map(term => {
      const [, path, operator, value] = /^([^!=]+?)(!=|==?)([^=]*)$/.exec(term.trim()) ?? []
      if (path === undefined || value === undefined) {
        throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`)
      }
      return (object: KubeObject): boolean => (fieldAt(object, path) === value) === (operator !== '!=')
    })
  return object => requirements.every(holds => holds(object))
}
