import type { Authorizer } from '../contract.ts'

export const mastersGroup = 'system:masters'

/** Members of `system:masters` may do everything, whatever RBAC says. */
export const mastersAuthorizer: Authorizer = {
  authorize: ({ user }) => ({
    allowed: user.groups.includes(mastersGroup) ? 'allow' : 'noOpinion',
    reason: '',
  }),
}
