import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openServerIdentity, type ServerIdentityOptions } from '../../../../src/identity/server-identity.ts'
import { temporaryFolder } from '../../../support/fleet.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const dayMs = 86_400_000

describe('the identity of a server', () => {
  const clock = manualClock()
  let folder: ReturnType<typeof temporaryFolder>
  let options: ServerIdentityOptions
  beforeEach(() => {
    folder = temporaryFolder()
    options = {
      folder: join(folder.path, 'pki'),
      name: 'isthmus-hub',
      names: ['127.0.0.1', 'hub.test'],
      clock,
    }
  })
  afterEach(() => folder.dispose())

  it('is made once and found again', async () => {
    const first = await openServerIdentity(options)
    const admin = await first.client('admin', { user: 'admin', groups: ['system:masters'] })
    const second = await openServerIdentity(options)
    expect(second.serving).toEqual(first.serving)
    expect(second.caBundle).toBe(first.caBundle)
    expect(await second.client('admin', { user: 'admin', groups: ['system:masters'] })).toEqual(admin)
  })

  it('can be read by its owner only', async () => {
    await (await openServerIdentity(options)).client('admin', { user: 'admin', groups: [] })
    expect(statSync(options.folder).mode & 0o777).toBe(0o700)
    expect(readdirSync(options.folder).sort()).toEqual([
      'admin.crt',
      'admin.key',
      'ca.crt',
      'ca.key',
      'serving.crt',
      'serving.key',
    ])
    for (const file of readdirSync(options.folder)) {
      expect(statSync(join(options.folder, file)).mode & 0o777).toBe(0o600)
    }
  })

  it('shows its authority behind the serving certificate', async () => {
    const { serving, caBundle } = await openServerIdentity(options)
    expect(serving.certificate.endsWith(caBundle)).toBe(true)
    expect(new X509Certificate(serving.certificate).checkHost('hub.test')).toBe('hub.test')
  })

  it('gets a new serving certificate for a new name and before the old one expires', async () => {
    const first = await openServerIdentity(options)
    const renamed = await openServerIdentity({ ...options, names: ['127.0.0.1', 'other.test'] })
    expect(renamed.serving).not.toEqual(first.serving)
    expect(renamed.caBundle).toBe(first.caBundle)
    const later = await openServerIdentity({
      ...options,
      names: ['127.0.0.1', 'other.test'],
      clock: manualClock(clock.now() + 300 * dayMs),
    })
    expect(later.serving).not.toEqual(renamed.serving)
  })

  it('makes anew what was cut off, but never its authority', async () => {
    const first = await openServerIdentity(options)
    writeFileSync(join(options.folder, 'serving.key'), 'garbage')
    const healed = await openServerIdentity(options)
    expect(healed.caBundle).toBe(first.caBundle)
    rmSync(join(options.folder, 'ca.key'))
    await expect(openServerIdentity(options)).rejects.toThrow(/ca\.crt is damaged or has no key that matches/)
    expect(readFileSync(join(options.folder, 'ca.crt'), 'utf8')).toBe(first.caBundle)
  })
})
