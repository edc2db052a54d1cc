/** What a policy rule of RBAC allows, and whether some rules cover others. */
import type { PolicyRule } from '../../src/api/rbac/schema.ts'
import type { AccessInfo } from '../contract.ts'

const all = '*'

/** Whether a rule allows an access. A rule is about resources or about paths, never about both. */
export function ruleAllows(rule: PolicyRule, info: AccessInfo): boolean {
  if (!hasOrAll(rule.verbs, info.verb)) return false
  if (!info.isResource) return rule.nonResourceURLs?.some(url => pathMatches(url, info.path)) ?? false
  return (
    hasOrAll(rule.apiGroups, info.group) &&
    (rule.resources?.some(pattern => resourceMatches(pattern, info.resource, info.subresource)) ?? false) &&
    (isEmpty(rule.resourceNames) || rule.resourceNames.includes(info.name))
  )
}

function hasOrAll(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes(value) || list.includes(all))
}

function isEmpty(list: readonly string[] | undefined): list is readonly [] | undefined {
  return list === undefined || list.length === 0
}

/** A star is everything, `pods` the resource alone, `pods/log` one subresource; a star may stand for the resource then. */
function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  if (pattern === all) return true
  if (subresource === '') return pattern === resource
  return pattern === `${resource}/${subresource}` || pattern === `*/${subresource}`
}

/** A trailing `*` stands for whatever follows. */
function pathMatches(pattern: string, path: string): boolean {
  if (pattern === path || pattern === all) return true
  return pattern.endsWith(all) && path.startsWith(pattern.slice(0, -1))
}

/** One verb on one resource, named or not, or on one path. */
type Atom = {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly name: string
  readonly path: string
}

/** Beyond this a rule grants more combinations than a person can have meant, and checking them would take seconds. */
export const maxAtoms = 20_000

/** How many single permissions the rules spell out. */
export function atomCount(rules: readonly PolicyRule[]): number {
  return rules.reduce(
    (sum, rule) => sum + resourceAtoms(rule) + lengthOf(rule.nonResourceURLs) * rule.verbs.length,
    0,
  )
}

function resourceAtoms(rule: PolicyRule): number {
  const names = Math.max(lengthOf(rule.resourceNames), 1)
  return lengthOf(rule.apiGroups) * lengthOf(rule.resources) * rule.verbs.length * names
}

function lengthOf(list: readonly string[] | undefined): number {
  return list?.length ?? 0
}

/**
 * What of `wanted` the rules `held` do not cover, resources with their missing verbs together. Only for rules with at
 * most `maxAtoms`.
 */
export function missingRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] {
  const missing = wanted.flatMap(atomsOf).filter(atom => !held.some(rule => ruleCovers(rule, atom)))
  const byTarget = Map.groupBy(missing, ({ group, resource, name, path }) =>
    JSON.stringify([group, resource, name, path]),
  )
  return [...byTarget.values()].flatMap(atoms => {
    const [first] = atoms
    return first === undefined ? [] : [ruleOf(first, [...new Set(atoms.map(atom => atom.verb))])]
  })
}

function ruleOf({ group, resource, name, path }: Atom, verbs: readonly string[]): PolicyRule {
  if (path !== '') return { nonResourceURLs: [path], verbs }
  return {
    apiGroups: [group],
    resources: [resource],
    ...(name === '' ? {} : { resourceNames: [name] }),
    verbs,
  }
}

function atomsOf(rule: PolicyRule): readonly Atom[] {
  const names = isEmpty(rule.resourceNames) ? [''] : rule.resourceNames
  const resources = (rule.apiGroups ?? []).flatMap(group =>
    (rule.resources ?? []).flatMap(resource => names.map(name => ({ group, resource, name, path: '' }))),
  )
  const paths = (rule.nonResourceURLs ?? []).map(path => ({ group: '', resource: '', name: '', path }))
  return [...resources, ...paths].flatMap(target => rule.verbs.map(verb => ({ ...target, verb })))
}

function ruleCovers(rule: PolicyRule, atom: Atom): boolean {
  if (!hasOrAll(rule.verbs, atom.verb)) return false
  if (atom.path !== '') return rule.nonResourceURLs?.some(url => pathCovers(url, atom.path)) ?? false
  return (
    hasOrAll(rule.apiGroups, atom.group) &&
    (rule.resources?.some(pattern => resourceCovers(pattern, atom.resource)) ?? false) &&
    (isEmpty(rule.resourceNames) || (atom.name !== '' && rule.resourceNames.includes(atom.name)))
  )
}

function resourceCovers(pattern: string, wanted: string): boolean {
  const slash = wanted.indexOf('/')
  return pattern === all || pattern === wanted || (slash >= 0 && pattern === `*${wanted.slice(slash)}`)
}

function pathCovers(pattern: string, wanted: string): boolean {
  if (pattern === wanted || pattern === all) return true
  return pattern.endsWith(all) && wanted.replace(/\*$/, '').startsWith(pattern.slice(0, -1))
}

/** A rule as kube-apiserver prints it in messages: `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}`. */
export function ruleText(rule: PolicyRule): string {
  const parts: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  const texts = parts.flatMap(([name, list]) =>
    isEmpty(list) || list === undefined ? [] : [`${name}:${quotedList(list)}`],
  )
  return `{${texts.join(', ')}}`
}

/** `["a" "b"]`, as Go prints a list of quoted strings. */
export function quotedList(list: readonly string[]): string {
  return `[${list.map(item => JSON.stringify(item)).join(' ')}]`
}
