/** The commands of the program. What a command runs is loaded when it runs. */
import { Command } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { apiServerCommand } from './apiserver-command.ts'
import {
  authorityPrepareCommand,
  authorityRetireCommand,
  authoritySwitchCommand,
} from './authority-command.ts'
import { type CommandDefinition, defineCommand, type Environment } from './command.ts'
import { dnsCommand } from './dns-command.ts'
import { dnsDoctorCommand } from './dns-doctor-command.ts'
import { fleetCommand } from './fleet-command.ts'
import { hubCommand } from './hub-command.ts'
import { memberCommand } from './member-command.ts'
import { migrateCommand } from './migrate-command.ts'
import type { Settings } from './setting.ts'
import {
  storeBackupCommand,
  storeCheckCommand,
  storeRepairCommand,
  storeRestoreCommand,
} from './store-command.ts'
import { tokenCreateCommand } from './token-command.ts'
import { uninstallCommand } from './uninstall-command.ts'

/** By what is typed to call them. */
export const commands: Readonly<Record<string, CommandDefinition<Settings>>> = {
  fleet: fleetCommand,
  hub: hubCommand,
  member: memberCommand,
  apiserver: apiServerCommand,
  dns: dnsCommand,
  'dns doctor': dnsDoctorCommand,
  'token create': tokenCreateCommand,
  'authority prepare': authorityPrepareCommand,
  'authority switch': authoritySwitchCommand,
  'authority retire': authorityRetireCommand,
  'store check': storeCheckCommand,
  'store repair': storeRepairCommand,
  'store backup': storeBackupCommand,
  'store restore': storeRestoreCommand,
  migrate: migrateCommand,
  uninstall: uninstallCommand,
}

/** Commands that do nothing by themselves. */
const groups: Readonly<Record<string, string>> = {
  authority: 'Gives a hub another authority without losing a member.',
  token: 'Handles the tokens with which clusters join.',
  store: 'Looks at the store of a server, saves it and puts it back.',
}

export function makeProgram(environment: Environment): Command {
  const program = new Command('isthmus')
    .description('Joins Kubernetes clusters into one ClusterSet.')
    .helpCommand(false)
    .version(manifest.version, '--version', 'output the version')
  for (const [path, definition] of Object.entries(commands)) {
    const [first = ''] = path.split(' ')
    const above = first === path ? program : groupOf(program, first)
    above.addCommand(defineCommand(definition, environment).helpCommand(false))
  }
  return program
}

/** A command that stands there already, or a group. */
function groupOf(program: Command, name: string): Command {
  const known = program.commands.find(one => one.name() === name)
  if (known !== undefined) return known
  const group = new Command(name).description(groups[name] ?? '').helpCommand(false)
  program.addCommand(group)
  return group
}
