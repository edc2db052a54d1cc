import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeBackup } from '../../../../apiservice/store/backup.ts'
import { encodeBody } from '../../../../src/codec/object-bytes.ts'
import { systemClock } from '../../../../src/kernel/clock.ts'
import { restore } from '../../../../src/roles/store-tools.ts'
import { temporaryFolder } from '../../../support/fleet.ts'

describe('a backup of servers that shared a store', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let from: string
  beforeEach(() => {
    folder = temporaryFolder()
    from = join(folder.path, 'backup')
    const key = { resource: 'authorities.internal.isthmus.dev', namespace: '', name: 'authority' }
    const data = { 'ca.key': 'the key\n', 'ca.crt': 'the certificate\n' }
    const header = { apiVersion: 'internal.isthmus.dev/v1', kind: 'Authority' }
    const body = encodeBody({ ...header, metadata: { name: 'authority' }, data })
    const items = [{ ...key, revision: 1, body }]
    writeFileSync(from, Buffer.concat([...encodeBackup({ revision: 1, items }, systemClock.now())]))
  })
  afterEach(() => folder.dispose())

  const at = (...names: readonly string[]): string => join(folder.path, 'home', ...names)
  const restoring = (): Promise<unknown> => restore({ home: at(), etcd: undefined }, from)

  it('gives a home its authority', async () => {
    await restoring()
    expect(readFileSync(at('pki/ca.crt'), 'utf8')).toBe('the certificate\n')
  })

  it('changes nothing where a store is already', async () => {
    mkdirSync(at('store'), { recursive: true })
    writeFileSync(at('store/CURRENT'), '')
    await expect(restoring()).rejects.toThrow(/store is there already: move it away$/)
    expect(existsSync(at('pki'))).toBe(false)
  })
})
