import type { CommandDefinition } from './command.ts'
import { memberSettings, runMember } from './member-process.ts'
import * as setting from './setting.ts'
import { controllers } from './shared-settings.ts'

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
  writeRate: setting.integer(
    {
      placeholder: 'N',
      description:
        'The agent writes at most so many objects a second in the cluster, and as many on the hub, however much there is to do.',
      default: '200',
    },
    1,
    10_000,
  ),
  ...memberSettings,
  podCidr: setting.optional(
    setting.cidrs({
      placeholder: 'CIDR,…',
      description:
        'Blocks that pods of the cluster get addresses from, so that it can be told whether ClusterSetIPs are among them; those of its nodes unless told.',
    }),
  ),
  clustersetip: setting.oneOf(
    {
      placeholder: 'HOW',
      description:
        'Behind a kube-apiserver, how pods reach imports: shared, at the ClusterSetIP that is the same in every cluster; shared-keep-source, so too and with the source address of the pod kept, at the price of a node port for each import; or local, at an address of their own cluster.',
      default: 'shared',
    },
    ['shared', 'shared-keep-source', 'local'],
  ),
  controllers,
}

export const memberCommand: CommandDefinition<typeof settings> = {
  name: 'member',
  description: 'Runs the API server of one cluster and its agent.',
  settings,
  run: values =>
    runMember({ ...values, controllers: values.controllers === 'all', routing: values.clustersetip }),
}
