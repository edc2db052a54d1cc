import { type CommandDefinition, UsageError } from './command.ts'
import * as setting from './setting.ts'
import { etcdOf, storeSettings } from './store-settings.ts'

const home = setting.text({
  placeholder: 'DIR',
  description: 'The home directory of the hub or member.',
  default: '.isthmus/hub',
})

function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`)
}

const checkSettings = { home }

export const storeCheckCommand: CommandDefinition<typeof checkSettings> = {
  name: 'check',
  description: 'Says whether the store of a stopped server is whole, and changes nothing.',
  settings: checkSettings,
  run: async values => print(await (await import('./store-tools.ts')).checkStore(values.home)),
}

const repairSettings = {
  home,
  to: setting.text({ placeholder: 'DIR', description: 'Where the new store is made; must not be there.' }),
}

export const storeRepairCommand: CommandDefinition<typeof repairSettings> = {
  name: 'repair',
  description: 'Makes a new store of what can be read of a damaged one, and lists what is lost.',
  settings: repairSettings,
  run: async values => print(await (await import('./store-tools.ts')).repair(values.home, values.to)),
}

const backupSettings = {
  home,
  ...storeSettings,
  kubeconfig: setting.optional(
    setting.text({
      placeholder: 'FILE',
      description: 'A kubeconfig of the server to ask; that in its home, if it runs, unless told.',
    }),
  ),
  context: setting.optional(
    setting.text({
      placeholder: 'NAME',
      description: 'The context of the kubeconfig; its current one unless told.',
    }),
  ),
  to: setting.text({ placeholder: 'FILE', description: 'The file that the backup is written to.' }),
}

export const storeBackupCommand: CommandDefinition<typeof backupSettings> = {
  name: 'backup',
  description: 'Saves all objects of a server in a file, whether it runs or not.',
  settings: backupSettings,
  run: async (values, _reread, flags) => {
    if (flags.has('kubeconfig') && flags.has('store')) {
      throw new UsageError(
        '--kubeconfig asks a server, --store reads an etcd without one: only one of them is given',
      )
    }
    const etcd = flags.has('kubeconfig') ? undefined : etcdOf(values, 'hub')
    const source = { ...values, etcd }
    print(await (await import('./store-tools.ts')).backUp(source, values.to))
  },
}

const restoreSettings = {
  home,
  ...storeSettings,
  from: setting.text({ placeholder: 'FILE', description: 'The backup.' }),
}

export const storeRestoreCommand: CommandDefinition<typeof restoreSettings> = {
  name: 'restore',
  description:
    'Makes the store of a server from a backup, in its home or in an etcd; its revisions go on above all that were given out.',
  settings: restoreSettings,
  run: async values => {
    const target = { home: values.home, etcd: etcdOf(values, 'hub') }
    print(await (await import('./store-tools.ts')).restore(target, values.from))
  },
}
