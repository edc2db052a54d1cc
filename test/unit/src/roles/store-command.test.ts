import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineCommand, type Environment, UsageError } from '../../../../src/roles/command.ts'
import { storeBackupCommand } from '../../../../src/roles/store-command.ts'
import { temporaryFolder } from '../../../support/fleet.ts'

describe('isthmus store backup', () => {
  let folder: ReturnType<typeof temporaryFolder>
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => folder.dispose())

  function backUp(args: readonly string[], environment: Environment = {}): Promise<unknown> {
    const to = ['--to', join(folder.path, 'backup'), '--home', folder.path]
    return defineCommand(storeBackupCommand, environment).parseAsync([...to, ...args], { from: 'user' })
  }

  it('asks the server of a kubeconfig that it is given, whatever etcd the environment names', async () => {
    const environment = { ISTHMUS_STORE: 'etcd://127.0.0.1:1' }
    const asked = backUp(['--kubeconfig', join(folder.path, 'none')], environment)
    await expect(asked).rejects.toThrow(/^kubeconfig \S+none cannot be read: ENOENT/)
  })

  it('does not choose between a server and an etcd', async () => {
    const args = ['--kubeconfig', join(folder.path, 'none'), '--store', 'etcd://127.0.0.1:1']
    await expect(backUp(args)).rejects.toThrow(UsageError)
  })
})
