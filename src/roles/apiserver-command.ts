import type { CommandDefinition } from './command.ts'
import { memberSettings, runMember } from './member-process.ts'
import * as setting from './setting.ts'

const settings = {
  clusterId: setting.clusterId({
    placeholder: 'ID',
    description: 'The id of this cluster: one or two DNS labels.',
    default: 'local',
  }),
  ...memberSettings,
}

export const apiServerCommand: CommandDefinition<typeof settings> = {
  name: 'apiserver',
  description: 'Runs the API server of one cluster alone, without agents and controllers.',
  settings,
  run: values => runMember({ ...values, controllers: false }),
}
