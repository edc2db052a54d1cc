import { join } from 'node:path'
import { systemClock } from '../kernel/clock.ts'
import { prometheus } from '../telemetry/prometheus.ts'
import type { CommandDefinition } from './command.ts'
import { announce, runUntilStopped } from './process.ts'
import * as setting from './setting.ts'
import { controllers, listening, logLevel, portSetting } from './shared-settings.ts'

const shared = {
  home: setting.optional(
    setting.text({
      placeholder: 'DIR',
      description: 'Where all state is kept; .isthmus/members/<cluster id> unless told.',
    }),
  ),
  port: portSetting('The port of the API server.', 7444),
  ...listening,
  logLevel,
}

const settings = {
  clusterId: setting.clusterId({
    placeholder: 'ID',
    description: 'The id of this cluster: one or two DNS labels.',
  }),
  join: setting.optional(
    setting.text({
      placeholder: 'TOKEN',
      description:
        'The join token that the hub made; needed until the cluster has joined once, and when the hub has removed it.',
    }),
  ),
  heartbeatInterval: setting.duration(
    {
      placeholder: 'TIME',
      description:
        'How often the hub is told that this cluster is there, 1s to 10m; after four times as long without it the cluster counts as unavailable.',
      default: '10s',
    },
    '10m',
    '1s',
  ),
  ...shared,
  controllers,
}

const apiServerSettings = {
  clusterId: setting.clusterId({
    placeholder: 'ID',
    description: 'The id of this cluster: one or two DNS labels.',
    default: 'local',
  }),
  ...shared,
}

type Values = setting.Values<typeof apiServerSettings> & {
  readonly join?: string | undefined
  readonly heartbeatInterval?: number | undefined
  readonly controllers: boolean
}

export const memberCommand: CommandDefinition<typeof settings> = {
  name: 'member',
  description: 'Runs the API server of one cluster and its agent.',
  settings,
  run: values => run({ ...values, controllers: values.controllers === 'all' }),
}

export const apiServerCommand: CommandDefinition<typeof apiServerSettings> = {
  name: 'apiserver',
  description: 'Runs the API server of one cluster alone, without agents and controllers.',
  settings: apiServerSettings,
  run: values => run({ ...values, controllers: false }),
}

function run(values: Values): Promise<void> {
  return runUntilStopped(values.logLevel, async (log, signal) => {
    const { openHome } = await import('./home.ts')
    const { opening } = await import('./opening.ts')
    const { requirePorts } = await import('./ports.ts')
    const { startMember } = await import('./member.ts')
    const { keepPublished, publishMember } = await import('./admin-files.ts')
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
      serviceCidrs: values.serviceCidr,
      advertise,
      clusterId,
      join: values.join,
      controllers: values.controllers,
      heartbeatMs: values.heartbeatInterval,
    }
    const metrics = prometheus({ processMetrics: true })
    const context = { clock: systemClock, log, metrics, signal }
    const member = await opening(context, async opened => {
      const started = await startMember(options, context)
      opened.add(() => started.close())
      await keepPublished(() => publishMember(home, started), context, signal)
      return started
    })
    announce(`kubectl --kubeconfig ${join(home, 'kubeconfig')} get serviceimports -A`)
    return member
  })
}
