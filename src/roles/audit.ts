/** Where a server tells of its requests. */
import { AuditLog } from '../../apiservice/audit/log-file.ts'
import { type AuditSink, type AuditStages, auditStages, noAudit } from '../../apiservice/audit/stage.ts'
import { AuditWebhook } from '../../apiservice/audit/webhook.ts'
import { readText } from '../cluster/body.ts'
import { fromKubeconfig } from '../cluster/kubeconfig.ts'
import { Transport } from '../cluster/transport.ts'
import type { AuditSettings } from './audit-settings.ts'
import type { Context } from './context.ts'
import type { Opened } from './opening.ts'

const json = 'application/json'
const maxAnswerBytes = 1024 * 1024

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
  const transport = new Transport({ ...server, clock, metrics })
  opened.add(() => transport.close())
  const { search } = new URL(server.servers[0] ?? '')
  const webhook = new AuditWebhook({
    ...settings,
    post: async (body, signal) => {
      const request = { method: 'POST', path: search, accept: json, contentType: json, body } as const
      const answer = await transport.send(request, signal)
      // The connection is free for the next one when all has been read.
      await readText(answer, maxAnswerBytes)
      return answer.statusCode ?? 0
    },
    clock,
    log,
    metrics,
  })
  opened.add(() => webhook.close())
  return webhook
}
