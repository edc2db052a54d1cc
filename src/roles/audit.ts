/** Where a server tells of its requests. */
import { AuditLog } from '../../apiservice/audit/log-file.ts'
import { type AuditSink, type AuditStages, auditStages, noAudit } from '../../apiservice/audit/stage.ts'
import { AuditWebhook } from '../../apiservice/audit/webhook.ts'
import { fromKubeconfig } from '../cluster/kubeconfig.ts'
import { auditPost } from './audit-post.ts'
import type { AuditSettings } from './audit-settings.ts'
import type { Context } from './context.ts'
import type { Opened } from './opening.ts'

export async function openAudit(
  settings: AuditSettings | undefined,
  context: Context,
  opened: Opened,
): Promise<AuditStages> {
  if (settings === undefined) return noAudit
  const { policy, file, webhook } = settings
  const { clock, log, metrics } = context
  const sinks: AuditSink[] = []
  if (file !== undefined) {
    const auditLog = await AuditLog.open({ ...file, clock, log, metrics })
    opened.add(() => auditLog.close())
    sinks.push(auditLog)
  }
  if (webhook !== undefined) sinks.push(await openWebhook(webhook, context, opened))
  return auditStages({ policy, sinks, clock })
}

async function openWebhook(
  { kubeconfig, ...settings }: NonNullable<AuditSettings['webhook']>,
  { clock, log, metrics }: Context,
  opened: Opened,
): Promise<AuditWebhook> {
  const server = await fromKubeconfig({ path: kubeconfig, clock })
  const { post, close } = auditPost({ ...server, clock, metrics })
  opened.add(close)
  const webhook = new AuditWebhook({
    ...settings,
    post,
    clock,
    log,
    metrics,
  })
  opened.add(() => webhook.close())
  return webhook
}
