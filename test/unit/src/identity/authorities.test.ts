import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  authorityNames,
  prepareAuthority,
  retireAuthorities,
  switchAuthority,
} from '../../../../src/identity/authorities.ts'
import { openServerIdentity, type ServerIdentity } from '../../../../src/identity/server-identity.ts'
import { systemClock as clock } from '../../../../src/kernel/clock.ts'
import { temporaryFolder } from '../../../support/fleet.ts'

describe('another authority', () => {
  let folder: ReturnType<typeof temporaryFolder>
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => folder.dispose())

  const open = (): Promise<ServerIdentity> =>
    openServerIdentity({ folder: folder.path, name: 'isthmus hub', names: ['localhost'], clock })
  const namesOf = ({ caBundle }: ServerIdentity): readonly string[] => authorityNames(caBundle)
  const fileOf = (name: string): string => join(folder.path, name)

  it('is trusted, then signs, then is alone', async () => {
    const [former = ''] = namesOf(await open())
    const [next = ''] = authorityNames(
      (await prepareAuthority(folder.path, 'isthmus hub', clock)).certificate,
    )
    const prepared = await open()
    expect(namesOf(prepared)).toEqual([former, next])
    expect(authorityNames(prepared.authority.certificate)).toEqual([former])
    await switchAuthority(folder.path)
    const switched = await open()
    expect(namesOf(switched)).toEqual([next, former])
    expect(authorityNames(switched.authority.certificate)).toEqual([next])
    // The serving certificate is made anew: it comes with the authority that signs.
    expect(authorityNames(switched.serving.certificate)).toContain(next)
    await retireAuthorities(folder.path)
    expect(namesOf(await open())).toEqual([next])
    expect(readdirSync(folder.path).filter(name => name.startsWith('ca'))).toEqual(['ca.crt', 'ca.key'])
  })

  it('is the same one when it is prepared twice, and cannot be switched to when it is not', async () => {
    await open()
    await expect(switchAuthority(folder.path)).rejects.toThrow('there is no next authority')
    const one = await prepareAuthority(folder.path, 'isthmus hub', clock)
    expect(await prepareAuthority(folder.path, 'isthmus hub', clock)).toEqual(one)
    // A key without its certificate: it was interrupted.
    writeFileSync(fileOf('ca-next.crt'), '')
    expect(await prepareAuthority(folder.path, 'isthmus hub', clock)).not.toEqual(one)
  })

  it('is switched to again when that was interrupted, and loses nobody', async () => {
    const before = await open()
    const next = await prepareAuthority(folder.path, 'isthmus hub', clock)
    // Up to the key of the next authority, and not its certificate.
    writeFileSync(fileOf('ca-former.crt'), before.authority.certificate)
    writeFileSync(fileOf('ca.key'), next.key)
    await expect(open()).rejects.toThrow('no key that matches')
    await switchAuthority(folder.path)
    expect(namesOf(await open())).toEqual([...authorityNames(next.certificate), ...namesOf(before)])
    expect(authorityNames(readFileSync(fileOf('ca-former.crt'), 'utf8'))).toHaveLength(1)
  })
})
