import type { Authorizer } from '../contract.ts'

const healthPaths: readonly string[] = ['/healthz', '/livez', '/readyz']

/** Whoever keeps a server alive may ask for its health, also anonymously; exactly these paths, none below them. */
export const healthAuthorizer: Authorizer = {
  authorize: ({ info }) => ({
    allowed: !info.isResource && healthPaths.includes(info.path) ? 'allow' : 'noOpinion',
    reason: '',
  }),
}
