import { join } from 'node:path'
import { ClusterClient } from '../cluster/client.ts'
import { fromKubeconfig } from '../cluster/kubeconfig.ts'
import { never } from '../kernel/abort.ts'
import { systemClock } from '../kernel/clock.ts'
import { readAddresses } from './admin-files.ts'
import { type CommandDefinition, UsageError } from './command.ts'
import * as setting from './setting.ts'
import { createToken } from './token.ts'

const settings = {
  home: setting.text({
    placeholder: 'DIR',
    description: 'The home directory of the hub.',
    default: '.isthmus/hub',
  }),
  kubeconfig: setting.optional(
    setting.text({
      placeholder: 'FILE',
      description: 'A kubeconfig of the hub; that in its home unless told.',
    }),
  ),
  context: setting.optional(
    setting.text({
      placeholder: 'NAME',
      description: 'The context of the kubeconfig; its current one unless told.',
    }),
  ),
  cluster: setting.optional(
    setting.clusterId({
      placeholder: 'ID',
      description:
        'The only cluster id that may join with the token; a member of that id gets new credentials.',
    }),
  ),
  expires: setting.duration(
    {
      placeholder: 'TIME',
      description: 'After which time the token is refused, at least 1m.',
      default: '1h',
    },
    undefined,
    '1m',
  ),
  hub: setting.optional(
    setting.listOf(
      setting.address({
        placeholder: 'HOST:PORT,…',
        description: 'Where members reach the hub; what the hub advertises unless told.',
      }),
    ),
  ),
}

export const tokenCreateCommand: CommandDefinition<typeof settings> = {
  name: 'create',
  description: 'Makes a one-time token with which one cluster can join, and prints it.',
  settings,
  run: async values => {
    const path = values.kubeconfig ?? join(values.home, 'kubeconfig')
    const context = values.context === undefined ? {} : { context: values.context }
    const found = await fromKubeconfig({ path, ...context, clock: systemClock })
    const { ca } = await found.credentials(never)
    if (ca === undefined) throw new UsageError(`${path} names no certificate authority of the hub`)
    const advertised = values.kubeconfig === undefined ? await readAddresses(values.home) : undefined
    const hub = new ClusterClient({ ...found, name: 'hub', clock: systemClock })
    try {
      const options = {
        clusterId: values.cluster,
        lifetimeMs: values.expires,
        servers: values.hub ?? advertised ?? found.servers,
        ca,
        clock: systemClock,
      }
      process.stdout.write(`${await createToken(hub, options, never)}\n`)
    } finally {
      hub.close()
    }
  },
}
