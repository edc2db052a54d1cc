import { join } from 'node:path'
import { systemClock } from '../kernel/clock.ts'
import { prometheus } from '../telemetry/prometheus.ts'
import { auditing, auditOf } from './audit-settings.ts'
import type { CommandDefinition } from './command.ts'
import { electionOf, electionSettings } from './election-settings.ts'
import { oidcOptions, oidcSettings } from './oidc-settings.ts'
import { announce, programName, runUntilStopped } from './process.ts'
import * as setting from './setting.ts'
import {
  addresses,
  controllers,
  historyOf,
  limitsOf,
  listening,
  logLevel,
  memberLimits,
  memberQuotaOf,
  portSetting,
  requireApart,
  rereadPools,
} from './shared-settings.ts'
import { etcdOf, storeSettings } from './store-settings.ts'

const settings = {
  home: setting.text({
    placeholder: 'DIR',
    description: 'Where all state is kept.',
    default: '.isthmus/hub',
  }),
  port: portSetting('The port of the API server.', 7443),
  ...listening,
  ...storeSettings,
  controllers,
  ...addresses,
  ...memberLimits,
  ...electionSettings,
  ...oidcSettings,
  ...auditing,
  logLevel,
}

export const hubCommand: CommandDefinition<typeof settings> = {
  name: 'hub',
  description: 'Runs the hub of a ClusterSet.',
  settings,
  run: (values, reread) =>
    runUntilStopped(values.logLevel, async (log, signal) => {
      const { openHome } = await import('./home.ts')
      const { opening } = await import('./opening.ts')
      const { requirePorts } = await import('./ports.ts')
      const { startHub } = await import('./hub.ts')
      const { keepPublished, publishHub } = await import('./admin-files.ts')
      const { host, port, clientCa } = values
      const advice = 'choose another with --port'
      requireApart(values.clustersetCidr, values.serviceCidr)
      const oidc = oidcOptions(values, systemClock)
      const audit = auditOf(values)
      const etcd = etcdOf(values, 'hub')
      const election = electionOf(values, etcd !== undefined)
      await requirePorts([{ owner: 'the hub', host, port, protocols: ['TCP'], advice }])
      const home = await openHome(values.home)
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
        advertise: values.advertise,
        controllers: values.controllers === 'all',
        clusterSetCidrs: values.clustersetCidr,
        quarantineMs: values.addressQuarantine,
        memberQuota: memberQuotaOf(values),
        oidc,
        election,
        rereadCidrs: rereadPools(reread),
        audit,
      }
      const metrics = prometheus({ processMetrics: true })
      const context = { clock: systemClock, log, metrics, signal }
      const hub = await opening(context, async opened => {
        const started = await startHub(options, context)
        opened.add(() => started.close())
        await keepPublished(() => publishHub(home, started), context, signal)
        return started
      })
      announce(
        `${programName(process.argv)} token create --home ${home} --cluster ID, or kubectl --kubeconfig ${join(home, 'kubeconfig')}`,
      )
      return hub
    }),
}
