import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openMemoryStore } from '../../../../apiservice/store/memory-store.ts'
import { prepareAuthority, retireAuthorities, switchAuthority } from '../../../../src/identity/authorities.ts'
import { openServerIdentity } from '../../../../src/identity/server-identity.ts'
import {
  changeSharedAuthority,
  copySharedAuthority,
  type SharedAuthorityOptions,
} from '../../../../src/identity/shared-authority.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { storedAuthority } from '../../../../src/roles/stored-authority.ts'
import { temporaryFolder } from '../../../support/fleet.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const clock = manualClock()

/** Several servers, each with a folder, on one store. */
async function servers(count: number) {
  const store = await openMemoryStore({ clock, log: silentLogger, metrics: noMetrics })
  const folder = temporaryFolder()
  onTestFinished(() => folder.dispose())
  return Array.from({ length: count }, (_, at) => {
    const options = { folder: join(folder.path, `${at}`, 'pki'), name: 'isthmus hub', clock }
    return { shared: storedAuthority(store), options }
  })
}

async function opened({ folder, name }: SharedAuthorityOptions) {
  return openServerIdentity({ folder, name, names: ['localhost'], clock })
}

describe('the authority of several servers', () => {
  it('is one, also when all start at once', async () => {
    const all = await servers(3)
    await Promise.all(all.map(({ shared, options }) => copySharedAuthority(shared, options)))
    const identities = await Promise.all(all.map(({ options }) => opened(options)))
    expect(new Set(identities.map(({ authority }) => authority.certificate)).size).toBe(1)
    expect(new Set(identities.map(({ authority }) => authority.key)).size).toBe(1)
    // Each has a certificate of its own, which all of them vouch for.
    expect(new Set(identities.map(({ serving }) => serving.certificate)).size).toBe(3)
  })

  it('is that of a server that was there alone before', async () => {
    const [first, second] = await servers(2)
    if (first === undefined || second === undefined) throw new Error('two servers')
    const before = await opened(first.options)
    await copySharedAuthority(first.shared, first.options)
    await copySharedAuthority(second.shared, second.options)
    expect((await opened(second.options)).authority).toEqual(before.authority)
    expect((await opened(first.options)).serving).toEqual(before.serving)
  })

  it('is not mixed with that of a stranger', async () => {
    const [first, second] = await servers(2)
    if (first === undefined || second === undefined) throw new Error('two servers')
    await copySharedAuthority(first.shared, first.options)
    const { authority } = await opened(second.options)
    await expect(copySharedAuthority(second.shared, second.options)).rejects.toThrow(
      'is not that of the other servers of the store',
    )
    expect(await readFile(join(second.options.folder, 'ca.crt'), 'utf8')).toBe(authority.certificate)
  })

  it('changes for all of them, step by step, and each still trusts who is a step behind', async () => {
    const [first, second] = await servers(2)
    if (first === undefined || second === undefined) throw new Error('two servers')
    const start = async ({ shared, options }: typeof first) => {
      await copySharedAuthority(shared, options)
      return opened(options)
    }
    const { authority: old } = await start(first)
    await start(second)
    const { folder, name } = first.options
    const step = <T>(take: () => Promise<T>) => changeSharedAuthority(first.shared, first.options, take)
    const next = await step(() => prepareAuthority(folder, name, clock))
    expect((await start(second)).caBundle).toBe(old.certificate + next.certificate)
    await step(() => switchAuthority(folder))
    const switched = await start(second)
    expect(switched.authority).toEqual(next)
    expect(switched.caBundle).toBe(next.certificate + old.certificate)
    await step(() => retireAuthorities(folder))
    expect((await start(second)).caBundle).toBe(next.certificate)
  })
})
