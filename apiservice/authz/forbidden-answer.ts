import { forbidden, forbiddenPath, type StatusError } from '../../src/kernel/errors.ts'
import { shown } from '../../src/kernel/field-error.ts'
import type { Attributes, Authorizer, RequireAccess } from '../contract.ts'

/** The 403 that kube-apiserver answers when no authorizer allows an access. */
export function refusal({ user, info }: Attributes, reason: string): StatusError {
  const suffix = reason === '' ? '' : `: ${reason}`
  const who = `User ${shown(user.name)} cannot ${info.verb}`
  if (!info.isResource) return forbiddenPath(escaped(`${who} path ${shown(info.path)}`) + suffix)
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace ${shown(info.namespace)}`
  const why = `${who} resource ${shown(resource)} in API group ${shown(info.group)} ${where}`
  return forbidden(info, info.name, escaped(why) + suffix)
}

/** kube-apiserver keeps what a client sent from being read as HTML. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** For stages that find out on the way what else a request needs: impersonation, and a PUT that creates. */
export function requireAccess(authorizer: Authorizer): RequireAccess {
  return async (attributes, signal) => {
    const decision = await authorizer.authorize(attributes, signal)
    if (decision.allowed !== 'allow') throw refusal(attributes, decision.reason)
  }
}
