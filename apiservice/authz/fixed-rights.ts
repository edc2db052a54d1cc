import type { PolicyRule } from '../../src/api/rbac/schema.ts'
import type { Authorizer } from '../contract.ts'
import { ruleAllows } from './rules.ts'

/**
 * Parts of the server itself, by their names: their rights do not depend on anybody's answer. A name alone gives nobody
 * these rights, since others choose the names of users as well.
 */
export function fixedRights(rules: ReadonlyMap<string, readonly PolicyRule[]>): Authorizer {
  return {
    authorize: ({ user, info }) => {
      const known = user.isComponent === true ? rules.get(user.name) : undefined
      const allowed = known?.some(rule => ruleAllows(rule, info)) ?? false
      return { allowed: allowed ? 'allow' : 'noOpinion', reason: '' }
    },
  }
}
