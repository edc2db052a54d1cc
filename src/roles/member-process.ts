/** The process of one cluster's API server, which the commands member and apiserver start. */
import { join } from 'node:path'
import type { Routing } from '../derive/desired.ts'
import { systemClock } from '../kernel/clock.ts'
import { prometheus } from '../telemetry/prometheus.ts'
import { aggregation, aggregationOf } from './aggregation-settings.ts'
import { auditing, auditOf } from './audit-settings.ts'
import { announce, runUntilStopped } from './process.ts'
import * as setting from './setting.ts'
import { historyOf, limitsOf, listening, logLevel, portSetting } from './shared-settings.ts'
import { etcdOf, storeSettings } from './store-settings.ts'

export const memberSettings = {
  home: setting.optional(
    setting.text({
      placeholder: 'DIR',
      description: 'Where all state is kept; .isthmus/members/<cluster id> unless told.',
    }),
  ),
  port: portSetting('The port of the API server.', 7444),
  ...listening,
  ...storeSettings,
  ...aggregation,
  ...auditing,
  logLevel,
}

type Values = setting.Values<typeof memberSettings> & {
  readonly clusterId: string
  readonly join?: string | undefined
  readonly heartbeatInterval?: number | undefined
  readonly writeRate?: number | undefined
  readonly controllers: boolean
  readonly routing?: Routing
  readonly podCidr?: readonly string[] | undefined
}

export function runMember(values: Values): Promise<void> {
  const aggregated = aggregationOf(values)
  const audit = auditOf(values)
  const etcd = etcdOf(values, values.clusterId)
  return runUntilStopped(values.logLevel, async (log, signal) => {
    const { openHome } = await import('./home.ts')
    const { opening } = await import('./opening.ts')
    const { requirePorts } = await import('./ports.ts')
    const { startMember } = await import('./member.ts')
    const { keepPublished, publishAggregated, publishMember } = await import('./admin-files.ts')
    const { advertise, clientCa, clusterId, host, port } = values
    const advice = 'choose another with --port'
    await requirePorts([{ owner: `the member ${clusterId}`, host, port, protocols: ['TCP'], advice }])
    const folder = values.home ?? join('.isthmus', 'members', clusterId)
    const home = await openHome(folder)
    const options = {
      home,
      host,
      port,
      clientCa,
      shutdownDelayMs: values.shutdownDelay,
      history: historyOf(values),
      limits: limitsOf(values),
      etcd,
      serviceCidrs: values.serviceCidr,
      advertise,
      audit,
      clusterId,
      join: values.join,
      controllers: values.controllers,
      heartbeatMs: values.heartbeatInterval,
      writesPerSecond: values.writeRate,
      aggregation: aggregated,
      routing: values.routing,
      podCidrs: values.podCidr,
    }
    const publish = aggregated === undefined ? publishMember : publishAggregated
    const metrics = prometheus({ processMetrics: true })
    const context = { clock: systemClock, log, metrics, signal }
    const member = await opening(context, async opened => {
      const started = await startMember(options, context)
      opened.add(() => started.close())
      await keepPublished(() => publish(home, started), context, signal)
      return started
    })
    announce(`kubectl --kubeconfig ${join(home, 'kubeconfig')} get serviceimports -A`)
    return member
  })
}
