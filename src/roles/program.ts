/** The commands of the program. What a command runs is loaded when it runs. */
import { Command } from 'commander'
import { defineCommand, type Environment } from './command.ts'
import { dnsCommand } from './dns-command.ts'
import { fleetCommand } from './fleet-command.ts'
import { hubCommand } from './hub-command.ts'
import { apiServerCommand, memberCommand } from './member-command.ts'
import { tokenCreateCommand } from './token-command.ts'

export function makeProgram(environment: Environment): Command {
  const token = new Command('token')
    .description('Handles the tokens with which clusters join.')
    .helpCommand(false)
    .addCommand(defineCommand(tokenCreateCommand, environment))
  return new Command('isthmus')
    .description('Joins Kubernetes clusters into one ClusterSet.')
    .helpCommand(false)
    .addCommand(defineCommand(fleetCommand, environment))
    .addCommand(defineCommand(hubCommand, environment))
    .addCommand(defineCommand(memberCommand, environment))
    .addCommand(defineCommand(apiServerCommand, environment))
    .addCommand(defineCommand(dnsCommand, environment))
    .addCommand(token)
}
