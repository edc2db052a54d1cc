import { resolve } from 'node:path'
import { systemClock } from '../kernel/clock.ts'
import { prometheus } from '../telemetry/prometheus.ts'
import type { CommandDefinition } from './command.ts'
import { announce, runUntilStopped } from './process.ts'
import * as setting from './setting.ts'
import {
  addresses,
  controllers,
  logLevel,
  portSetting,
  requireApart,
  rereadPools,
  serviceCidr,
} from './shared-settings.ts'

const maxMembers = 9

const settings = {
  home: setting.text({ placeholder: 'DIR', description: 'Where all state is kept.', default: '.isthmus' }),
  port: portSetting("The hub's port; members follow on +1, +2…, their DNS on +10, +11….", 7443),
  members: setting.except(
    setting.listOf(
      setting.clusterId({
        placeholder: 'ID,…',
        description: `Cluster ids of the members, at most ${maxMembers}.`,
        default: 'east,west',
      }),
      maxMembers,
    ),
    ids => ids.includes('hub'),
    'must not name a member "hub", which is the context of the hub in the kubeconfig',
  ),
  controllers,
  ...addresses,
  serviceCidr,
  logLevel,
}

export const fleetCommand: CommandDefinition<typeof settings> = {
  name: 'fleet',
  description: 'Runs a hub, members and their DNS in one process on 127.0.0.1.',
  settings,
  run: (values, reread) =>
    runUntilStopped(values.logLevel, async (log, signal) => {
      requireApart(values.clustersetCidr, values.serviceCidr)
      const { startFleet } = await import('./fleet.ts')
      const options = {
        home: values.home,
        port: values.port,
        members: values.members,
        controllers: values.controllers === 'all',
        clusterSetCidrs: values.clustersetCidr,
        rereadCidrs: rereadPools(reread),
        serviceCidrs: values.serviceCidr,
        quarantineMs: values.addressQuarantine,
      }
      const running = await startFleet(options, { clock: systemClock, log, metrics: prometheus(), signal })
      announce(`kubectl --kubeconfig ${resolve(values.home, 'kubeconfig')} get serviceimports -A`)
      return running
    }),
}
