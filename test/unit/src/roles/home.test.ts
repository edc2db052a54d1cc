import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHome } from '../../../../src/roles/home.ts'
import { temporaryFolder } from '../../../support/fleet.ts'

describe('a home directory', () => {
  let folder: ReturnType<typeof temporaryFolder>
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => folder.dispose())

  it('is made with all that leads to it, for its owner only, and left empty', async () => {
    const path = join(folder.path, 'a/b/c')
    expect(await openHome(path)).toBe(path)
    expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(readdirSync(path)).toEqual([])
  })

  it('is taken as it is when it is there', async () => {
    const path = join(folder.path, 'home')
    mkdirSync(path)
    writeFileSync(join(path, 'kept'), '')
    await openHome(path)
    expect(readdirSync(path)).toEqual(['kept'])
  })

  it('below a file is refused in one sentence', async () => {
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    await expect(openHome(join(file, 'home'))).rejects.toThrow(
      /^the home directory .*file\/home cannot be written: ENOTDIR.*; choose another with --home$/,
    )
  })

  it('where the system makes no folders is refused, not waited for', async () => {
    await expect(openHome('/proc/isthmus/home')).rejects.toThrow(
      /cannot be written: (ENOENT|EACCES|ENOTDIR|EPERM|EROFS)/,
    )
  })
})
