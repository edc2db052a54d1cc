import { join } from 'node:path'
import { systemClock } from '../kernel/clock.ts'
import { prometheus } from '../telemetry/prometheus.ts'
import type { CommandDefinition } from './command.ts'
import { announce, runUntilStopped } from './process.ts'
import * as setting from './setting.ts'
import { addresses, controllers, listening, logLevel, portSetting } from './shared-settings.ts'

const settings = {
  home: setting.text({
    placeholder: 'DIR',
    description: 'Where all state is kept.',
    default: '.isthmus/hub',
  }),
  port: portSetting('The port of the API server.', 7443),
  ...listening,
  controllers,
  ...addresses,
  logLevel,
}

export const hubCommand: CommandDefinition<typeof settings> = {
  name: 'hub',
  description: 'Runs the hub of a ClusterSet.',
  settings,
  run: values =>
    runUntilStopped(values.logLevel, async (log, signal) => {
      const { openHome } = await import('./home.ts')
      const { requirePorts } = await import('./ports.ts')
      const { startHub } = await import('./hub.ts')
      const { keepPublished, publishHub } = await import('./admin-files.ts')
      const { host, port, clientCa } = values
      const advice = 'choose another with --port'
      await requirePorts([{ owner: 'the hub', host, port, protocols: ['TCP'], advice }])
      const home = await openHome(values.home)
      const options = {
        home,
        host,
        port,
        clientCa,
        serviceCidrs: values.serviceCidr,
        advertise: values.advertise,
        controllers: values.controllers === 'all',
        clusterSetCidrs: values.clustersetCidr,
        quarantineMs: values.addressQuarantine,
      }
      const metrics = prometheus({ processMetrics: true })
      const hub = await startHub(options, { clock: systemClock, log, metrics, signal })
      await keepPublished(() => publishHub(home, hub), { clock: systemClock, log }, signal)
      announce(
        `isthmus token create --home ${values.home} --cluster ID, or kubectl --kubeconfig ${join(values.home, 'kubeconfig')}`,
      )
      return hub
    }),
}
