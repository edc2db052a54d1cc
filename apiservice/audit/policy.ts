/** What is logged of whom: `Policy` of audit.k8s.io/v1, with the matching of k8s.io/apiserver `pkg/audit/policy`. */
import { isRecord } from '../../src/api/record.ts'
import { parseYaml } from '../../src/codec/yaml.ts'
import { badRequest } from '../../src/kernel/errors.ts'
import type { RequestInfo, UserInfo } from '../contract.ts'

const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type Level = (typeof levels)[number]

const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type StageName = (typeof stages)[number]

/** What is logged of one request. */
export type Verdict = {
  readonly level: Level
  readonly omitStages: ReadonlySet<StageName>
  readonly omitManagedFields: boolean
}

type GroupResources = {
  readonly group: string
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
}

type Rule = Verdict & {
  readonly users: readonly string[]
  readonly userGroups: readonly string[]
  readonly verbs: readonly string[]
  readonly resources: readonly GroupResources[]
  readonly namespaces: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

export type Policy = { readonly rules: readonly Rule[]; readonly omitStages: ReadonlySet<StageName> }

const maxRules = 1000

/** Of the first rule that fits; nothing of who fits none. */
export function verdictOf(policy: Policy, user: UserInfo, info: RequestInfo): Verdict {
  const rule = policy.rules.find(one => fits(one, user, info))
  return rule ?? { level: 'None', omitStages: policy.omitStages, omitManagedFields: false }
}

function fits(rule: Rule, user: UserInfo, info: RequestInfo): boolean {
  if (rule.users.length > 0 && !rule.users.includes(user.name)) return false
  if (rule.userGroups.length > 0 && !rule.userGroups.some(group => user.groups.includes(group))) return false
  if (rule.verbs.length > 0 && !rule.verbs.includes(info.verb)) return false
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return fitsResource(rule, info)
  return rule.nonResourceURLs.length === 0 || fitsPath(rule, info)
}

function fitsPath(rule: Rule, info: RequestInfo): boolean {
  if (info.isResource) return false
  return rule.nonResourceURLs.some(
    url => url === '*' || url === info.path || (url.endsWith('*') && info.path.startsWith(url.slice(0, -1))),
  )
}

function fitsResource(rule: Rule, info: RequestInfo): boolean {
  if (!info.isResource) return false
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(info.namespace)) return false
  if (rule.resources.length === 0) return true
  const { group, resource, subresource, name } = info
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  const wanted = ['*', whole, `*/${subresource}`, `${resource}/*`]
  if (subresource === '') wanted.splice(2)
  return rule.resources.some(
    one =>
      one.group === group &&
      (one.resources.length === 0 || one.resources.some(known => wanted.includes(known))) &&
      (one.resourceNames.length === 0 || one.resourceNames.includes(name)),
  )
}

/** Throws BadRequest that names the field. */
export function parsePolicy(text: string): Policy {
  const { value } = parseYaml(text)
  const document = recordAt('the policy', value)
  const { apiVersion, kind, rules } = document
  if (apiVersion !== 'audit.k8s.io/v1' || kind !== 'Policy') {
    throw fault('the policy', 'must be a Policy of audit.k8s.io/v1')
  }
  if (!Array.isArray(rules) || rules.length === 0) throw fault('rules', 'must hold at least one rule')
  if (rules.length > maxRules) throw fault('rules', `must hold at most ${maxRules} rules`)
  const omitStages = stagesAt('omitStages', document.omitStages)
  const omitManagedFields = booleanAt('omitManagedFields', document.omitManagedFields, false)
  return {
    omitStages,
    rules: rules.map((rule: unknown, at) => ruleAt(`rules[${at}]`, rule, { omitStages, omitManagedFields })),
  }
}

function ruleAt(path: string, value: unknown, whole: Omit<Verdict, 'level'>): Rule {
  const rule = recordAt(path, value)
  const level = levels.find(known => known === rule.level)
  if (level === undefined) throw fault(`${path}.level`, `must be one of ${levels.join(', ')}`)
  const nonResourceURLs = textsAt(`${path}.nonResourceURLs`, rule.nonResourceURLs)
  const namespaces = textsAt(`${path}.namespaces`, rule.namespaces)
  const resources = listAt(`${path}.resources`, rule.resources).map((one, at) =>
    resourcesAt(`${path}.resources[${at}]`, one),
  )
  const odd = nonResourceURLs.find(url => url !== '*' && !/^\/[^*]*\*?$/.test(url))
  if (odd !== undefined) {
    throw fault(`${path}.nonResourceURLs`, 'must begin with a slash and may have a * at their end')
  }
  if (nonResourceURLs.length > 0 && (namespaces.length > 0 || resources.length > 0)) {
    throw fault(`${path}.nonResourceURLs`, 'must not stand beside resources or namespaces')
  }
  return {
    level,
    users: textsAt(`${path}.users`, rule.users),
    userGroups: textsAt(`${path}.userGroups`, rule.userGroups),
    verbs: textsAt(`${path}.verbs`, rule.verbs),
    namespaces,
    resources,
    nonResourceURLs,
    omitStages: whole.omitStages.union(stagesAt(`${path}.omitStages`, rule.omitStages)),
    omitManagedFields: booleanAt(
      `${path}.omitManagedFields`,
      rule.omitManagedFields,
      whole.omitManagedFields,
    ),
  }
}

function resourcesAt(path: string, value: unknown): GroupResources {
  const { group = '', resources, resourceNames } = recordAt(path, value)
  if (typeof group !== 'string') throw fault(`${path}.group`, 'must be a string')
  const names = textsAt(`${path}.resourceNames`, resourceNames)
  const known = textsAt(`${path}.resources`, resources)
  if (names.length > 0 && known.length === 0)
    throw fault(`${path}.resourceNames`, 'needs resources beside it')
  return { group, resources: known, resourceNames: names }
}

function stagesAt(path: string, value: unknown): ReadonlySet<StageName> {
  return new Set(
    textsAt(path, value).map(text => {
      const known = stages.find(stage => stage === text)
      if (known === undefined) throw fault(path, `must be of ${stages.join(', ')}`)
      return known
    }),
  )
}

function textsAt(path: string, value: unknown): readonly string[] {
  return listAt(path, value).map(item => {
    if (typeof item !== 'string') throw fault(path, 'must be a list of strings')
    return item
  })
}

function listAt(path: string, value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw fault(path, 'must be a list')
  return value
}

function booleanAt(path: string, value: unknown, absent: boolean): boolean {
  if (value === undefined || value === null) return absent
  if (typeof value !== 'boolean') throw fault(path, 'must be true or false')
  return value
}

function recordAt(path: string, value: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw fault(path, 'must be an object')
  return value
}

function fault(path: string, must: string): Error {
  return badRequest(`${path} ${must}`)
}
