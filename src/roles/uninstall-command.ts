import { systemClock } from '../kernel/clock.ts'
import { apiServiceNames } from './api-service-names.ts'
import type { CommandDefinition } from './command.ts'
import * as setting from './setting.ts'
import { connect } from './underneath.ts'

const settings = {
  kubeconfig: setting.text({
    placeholder: 'FILE',
    description:
      'A kubeconfig of the cluster that the member leaves, or in-cluster for the service account of the pod.',
  }),
  context: setting.optional(
    setting.text({
      placeholder: 'NAME',
      description: 'The context of the kubeconfig; its current one unless told.',
    }),
  ),
  service: setting.service({
    placeholder: 'NAMESPACE/NAME',
    description: 'The Service that the APIServices name; the Deployment of the member is called the same.',
    default: 'isthmus-system/isthmus-member',
  }),
  timeout: setting.duration(
    { placeholder: 'TIME', description: 'After which time it gives up, at most 1h.', default: '5m' },
    '1h',
    '1s',
  ),
}

export const uninstallCommand: CommandDefinition<typeof settings> = {
  name: 'uninstall',
  description:
    'Takes the member out of a cluster: its APIServices, then itself, then what it derived. Says what it leaves.',
  settings,
  run: async ({ context, kubeconfig, service, timeout }) => {
    const { uninstall } = await import('../uninstall/uninstall.ts')
    const { noMetrics } = await import('../kernel/metrics.ts')
    const from = { path: kubeconfig, ...(context === undefined ? {} : { context }) }
    const cluster = await connect(from, { clock: systemClock, metrics: noMetrics })
    const stop = new AbortController()
    const given = systemClock.after(timeout, () =>
      stop.abort(new Error('it is not done in time: run it again')),
    )
    try {
      const options = { cluster, apiServices: apiServiceNames('member'), service, clock: systemClock }
      await uninstall({ ...options, report: line => process.stdout.write(`${line}\n`) }, stop.signal)
    } finally {
      given()
      cluster.close()
    }
  },
}
