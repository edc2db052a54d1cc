import type { PolicyRule } from '../../src/api/rbac/schema.ts'
import type { Authorizer } from '../contract.ts'
import { ruleAllows } from './rules.ts'

/** Users whose rights do not depend on anybody's answer, by their names: parts of the server itself. */
export function fixedRights(rules: ReadonlyMap<string, readonly PolicyRule[]>): Authorizer {
  return {
    authorize: async ({ user, info }) => {
      const allowed = rules.get(user.name)?.some(rule => ruleAllows(rule, info)) ?? false
      return { allowed: allowed ? 'allow' : 'noOpinion', reason: '' }
    },
  }
}
