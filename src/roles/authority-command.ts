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
import type { Values } from './setting.ts'
import * as setting from './setting.ts'
import { etcdOf, storeSettings } from './store-settings.ts'

const settings = {
  home: setting.text({
    placeholder: 'DIR',
    description:
      'The home directory of the hub, which must not run meanwhile; that of any of several hubs, or an empty one, with --store.',
    default: '.isthmus/hub',
  }),
  ...storeSettings,
}

type Definition = CommandDefinition<typeof settings>

const name = 'isthmus hub'

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Takes a step in the folder of the hub; with a store that several hubs share, for all of them. */
async function take<T>(values: Values<typeof settings>, step: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(values.home, 'pki')
  const etcd = etcdOf(values, 'hub')
  if (etcd === undefined) return step(folder)
  const { withSharedAuthority } = await import('./stored-authority.ts')
  return withSharedAuthority(etcd, { folder, name, clock: systemClock }, () => step(folder))
}

export const authorityPrepareCommand: Definition = {
  name: 'prepare',
  description:
    'Makes the next authority of a hub, which is trusted from the next start on and signs nothing yet.',
  settings,
  run: async values => {
    const { certificate } = await take(values, folder => prepareAuthority(folder, name, systemClock))
    say(
      `${authorityNames(certificate).join()} is the next authority: start the hub, and wait until every member trusts it`,
    )
  },
}

export const authoritySwitchCommand: Definition = {
  name: 'switch',
  description: 'Makes the next authority the one that signs; the former one stays trusted.',
  settings,
  run: async values => {
    const { certificate } = await take(values, switchAuthority)
    say(
      `${authorityNames(certificate).join()} signs: start the hub, and wait until it comes first for every member`,
    )
  },
}

export const authorityRetireCommand: Definition = {
  name: 'retire',
  description: 'Lets former authorities go: nothing that they signed is good any more.',
  settings,
  run: async values => {
    await take(values, retireAuthorities)
    say('no former authority is trusted any more: start the hub')
  },
}
