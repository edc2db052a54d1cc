/** Another authority for a hub, in three steps. What a command does is said to whoever takes the next step. */
import { join } from 'node:path'
import {
  authorityNames,
  prepareAuthority,
  retireAuthorities,
  switchAuthority,
} from '../identity/authorities.ts'
import { systemClock } from '../kernel/clock.ts'
import type { CommandDefinition } from './command.ts'
import * as setting from './setting.ts'

const settings = {
  home: setting.text({
    placeholder: 'DIR',
    description: 'The home directory of the hub, which must not run meanwhile.',
    default: '.isthmus/hub',
  }),
}

type Definition = CommandDefinition<typeof settings>

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

export const authorityPrepareCommand: Definition = {
  name: 'prepare',
  description:
    'Makes the next authority of a hub, which is trusted from the next start on and signs nothing yet.',
  settings,
  run: async ({ home }) => {
    const { certificate } = await prepareAuthority(join(home, 'pki'), 'isthmus hub', systemClock)
    say(
      `${authorityNames(certificate).join()} is the next authority: start the hub, and wait until every member trusts it`,
    )
  },
}

export const authoritySwitchCommand: Definition = {
  name: 'switch',
  description: 'Makes the next authority the one that signs; the former one stays trusted.',
  settings,
  run: async ({ home }) => {
    const { certificate } = await switchAuthority(join(home, 'pki'))
    say(
      `${authorityNames(certificate).join()} signs: start the hub, and wait until it comes first for every member`,
    )
  },
}

export const authorityRetireCommand: Definition = {
  name: 'retire',
  description: 'Lets former authorities go: nothing that they signed is good any more.',
  settings,
  run: async ({ home }) => {
    await retireAuthorities(join(home, 'pki'))
    say('no former authority is trusted any more: start the hub')
  },
}
