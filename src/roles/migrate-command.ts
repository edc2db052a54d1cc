import { join } from 'node:path'
import { never } from '../kernel/abort.ts'
import { systemClock } from '../kernel/clock.ts'
import { noMetrics } from '../kernel/metrics.ts'
import { apiServiceNames } from './api-service-names.ts'
import type { CommandDefinition } from './command.ts'
import * as setting from './setting.ts'
import { connect } from './underneath.ts'

const settings = {
  home: setting.text({
    placeholder: 'DIR',
    description: 'The home directory of the member, which runs.',
    default: '.isthmus/members/local',
  }),
  kubeconfig: setting.text({
    placeholder: 'FILE',
    description:
      'A kubeconfig of the cluster that the member stands in, or in-cluster for the service account of the pod.',
  }),
  service: setting.service({
    placeholder: 'NAMESPACE/NAME',
    description: 'The Service that the APIServices shall name.',
    default: 'isthmus-system/isthmus-member',
  }),
  dryRun: setting.oneOf(
    {
      placeholder: 'WHETHER',
      description: 'yes: says what it would do, and changes nothing.',
      default: 'no',
    },
    ['yes', 'no'],
  ),
}

export const migrateCommand: CommandDefinition<typeof settings> = {
  name: 'migrate',
  description:
    'Carries the ServiceExports of a CustomResourceDefinition over to the member, and leads requests there.',
  settings,
  run: async ({ dryRun, home, kubeconfig, service }) => {
    const { migrate } = await import('../migrate/migrate.ts')
    const context = { clock: systemClock, metrics: noMetrics }
    const cluster = await connect({ path: kubeconfig }, context)
    const own = await connect({ path: join(home, 'kubeconfig') }, context)
    try {
      const options = { cluster, own, apiServices: apiServiceNames('member'), service }
      const report = (line: string): boolean => process.stdout.write(`${line}\n`)
      await migrate({ ...options, isDryRun: dryRun === 'yes', report }, never)
    } finally {
      cluster.close()
      own.close()
    }
  },
}
