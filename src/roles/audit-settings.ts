/** What is told of requests, and where: flags of kube-apiserver. */
import { type Policy, parsePolicy } from '../../apiservice/audit/policy.ts'
import { errorText } from '../kernel/abort.ts'
import { UsageError } from './command.ts'
import * as setting from './setting.ts'

export type AuditSettings = {
  readonly policy: Policy
  /** `-` for the standard output. */
  readonly path: string
  readonly maxMegabytes: number
  readonly maxBackups: number
}

export const auditing = {
  auditPolicyFile: setting.optional(
    policy({
      placeholder: 'FILE',
      description:
        'A Policy of audit.k8s.io/v1: what is told of which requests; needed with --audit-log-path.',
    }),
  ),
  auditLogPath: setting.optional(
    setting.text({
      placeholder: 'FILE',
      description:
        'Where requests are told of, one event of audit.k8s.io/v1 a line; - for the standard output.',
    }),
  ),
  auditLogMaxsize: setting.integer(
    { placeholder: 'MB', description: 'How large the audit log grows before it is rotated.', default: '100' },
    1,
    10_000,
  ),
  auditLogMaxbackup: setting.integer(
    { placeholder: 'N', description: 'How many rotated audit logs are kept.', default: '10' },
    1,
    1000,
  ),
}

/** Undefined when there is no audit log. */
export function auditOf(values: setting.Values<typeof auditing>): AuditSettings | undefined {
  const { auditPolicyFile, auditLogPath, auditLogMaxsize, auditLogMaxbackup } = values
  if (auditPolicyFile === undefined && auditLogPath === undefined) return
  if (auditPolicyFile === undefined || auditLogPath === undefined) {
    throw new UsageError('--audit-policy-file and --audit-log-path need each other: give both or neither')
  }
  return {
    policy: auditPolicyFile,
    path: auditLogPath,
    maxMegabytes: auditLogMaxsize,
    maxBackups: auditLogMaxbackup,
  }
}

function policy(words: setting.Words): setting.Setting<Policy> {
  const file = setting.file(words)
  return {
    ...words,
    parse: path => {
      const text = file.parse(path)
      try {
        return parsePolicy(text)
      } catch (thrown) {
        throw new Error(`hold an audit policy (${errorText(thrown)})`)
      }
    },
  }
}
