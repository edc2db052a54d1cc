/** What is told of requests, and where: flags of kube-apiserver. */
import type { AuditLogOptions } from '../../apiservice/audit/log-file.ts'
import { type Policy, parsePolicy } from '../../apiservice/audit/policy.ts'
import type { WebhookSettings } from '../../apiservice/audit/webhook.ts'
import { errorText } from '../kernel/abort.ts'
import { UsageError } from './command.ts'
import * as setting from './setting.ts'

export type AuditSettings = {
  readonly policy: Policy
  readonly file?: Pick<AuditLogOptions, 'path' | 'maxMegabytes' | 'maxBackups'> | undefined
  /** `kubeconfig` is the path of a file that says where it is. */
  readonly webhook?: (WebhookSettings & { readonly kubeconfig: string }) | undefined
}

export const auditing = {
  auditPolicyFile: setting.optional(
    policy({
      placeholder: 'FILE',
      description:
        'A Policy of audit.k8s.io/v1: what is told of which requests; needed with --audit-log-path and --audit-webhook-config-file.',
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
  auditWebhookConfigFile: setting.optional(
    setting.text({
      placeholder: 'FILE',
      description: 'A kubeconfig of the server that events are sent to, many at a time.',
    }),
  ),
  auditWebhookMode: setting.oneOf(
    {
      placeholder: 'MODE',
      description:
        'batch: events are gathered and sent behind the requests; blocking: each is sent while its request waits.',
      default: 'batch',
    },
    ['batch', 'blocking'],
  ),
  auditWebhookBatchMaxSize: setting.integer(
    { placeholder: 'N', description: 'How many events are sent at a time.', default: '400' },
    1,
    10_000,
  ),
  auditWebhookBatchMaxWait: setting.duration(
    { placeholder: 'TIME', description: 'How long an event waits for others.', default: '30s' },
    '10m',
    '10ms',
  ),
  auditWebhookBatchBufferSize: setting.integer(
    {
      placeholder: 'N',
      description: 'How many events may wait to be sent; beyond, they are dropped.',
      default: '10000',
    },
    1,
    1_000_000,
  ),
  auditWebhookInitialBackoff: setting.duration(
    {
      placeholder: 'TIME',
      description: 'How long it is waited before the second of five tries.',
      default: '10s',
    },
    '10m',
    '10ms',
  ),
}

type Values = setting.Values<typeof auditing>

/** Undefined when there is no audit log. */
export function auditOf(values: Values): AuditSettings | undefined {
  const { auditPolicyFile: policy, auditLogPath, auditWebhookConfigFile } = values
  const isTold = auditLogPath !== undefined || auditWebhookConfigFile !== undefined
  if (policy === undefined && !isTold) return undefined
  if (policy === undefined || !isTold) {
    throw new UsageError(
      '--audit-policy-file needs --audit-log-path or --audit-webhook-config-file, and each of these needs it',
    )
  }
  return { policy, file: fileOf(values), webhook: webhookOf(values) }
}

function fileOf({ auditLogPath: path, auditLogMaxsize, auditLogMaxbackup }: Values): AuditSettings['file'] {
  if (path === undefined) return undefined
  return { path, maxMegabytes: auditLogMaxsize, maxBackups: auditLogMaxbackup }
}

function webhookOf(values: Values): AuditSettings['webhook'] {
  const { auditWebhookConfigFile: kubeconfig } = values
  if (kubeconfig === undefined) return undefined
  return {
    kubeconfig,
    mode: values.auditWebhookMode,
    maxBatchEvents: values.auditWebhookBatchMaxSize,
    maxWaitMs: values.auditWebhookBatchMaxWait,
    bufferEvents: values.auditWebhookBatchBufferSize,
    firstBackoffMs: values.auditWebhookInitialBackoff,
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
