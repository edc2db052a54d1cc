// The commands that look at, save and put back a store, on a server as a process of its own.
import { appendFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Etcd, withoutEtcd } from '../support/etcd.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { runRole, runToEnd } from '../support/role-process.ts'
import { exportsPath, Served, versionOf } from './served.ts'

let folder: ReturnType<typeof temporaryFolder>
let served: Served

beforeEach(async () => {
  folder = temporaryFolder()
  served = new Served(join(folder.path, 'home'))
  await served.start()
})
afterEach(async () => {
  await served.kill()
  folder.dispose()
})

function store(...args: readonly string[]): Promise<string> {
  return runRole(['store', ...args, '--home', served.home])
}

async function sentence(...args: readonly string[]): Promise<string> {
  const { code, output } = await runToEnd(['store', ...args, '--home', served.home])
  expect(code).toBe(1)
  return output
}

/** Creates objects one after the other until it is told to stop. */
async function keepWriting(writer: number, signal: AbortSignal): Promise<void> {
  for (let count = 0; !signal.aborted; count++) {
    expect((await served.create(`w${writer}-${count}`)).status).toBe(201)
  }
}

async function namesNow(): Promise<{ readonly names: readonly string[]; readonly revision: number }> {
  const answer = await served.client.send(exportsPath)
  expect(answer.status).toBe(200)
  const { items } = answer.json as { items: { metadata: { name: string } }[] } // a list has them
  return { names: items.map(item => item.metadata.name), revision: versionOf(answer) }
}

describe('isthmus store', () => {
  const file = (): string => join(folder.path, 'server.backup')

  it('saves a server that is written to, and puts that state back without going back in revision', async () => {
    for (const name of ['a', 'b', 'c']) await served.create(name)
    const stop = new AbortController()
    const writing = [0, 1, 2, 3].map(writer => keepWriting(writer, stop.signal))
    const output = await store('backup', '--to', file())
    stop.abort()
    await Promise.all(writing)
    expect(output).toMatch(/^saved \d+ objects at revision \d+ in \S+server\.backup$/)
    const [, savedAt = ''] = /at revision (\d+)/.exec(output) ?? []
    const before = [...served.answered].filter(([, revision]) => revision <= Number(savedAt))
    await served.create('later')
    const { revision: seen } = await namesNow()
    expect(await sentence('check')).toMatch(/is in use by another process$/)
    await served.kill()
    expect(await store('check')).toMatch(/ is whole: \d+ objects at revision \d+, .*, format 2$/)
    renameSync(join(served.home, 'store'), join(folder.path, 'old'))
    expect(await store('restore', '--from', file())).toMatch(
      /^made a store of \d+ objects in \S+, as they were at /,
    )
    await served.start()
    const { names, revision } = await namesNow()
    // Exactly what had been answered up to the revision of the backup: nothing between is missing.
    expect(new Set(names)).toEqual(new Set(before.map(([name]) => name)))
    expect(revision).toBeGreaterThan(seen)
    const watch = await served.client.open(`${exportsPath}?watch=1&resourceVersion=${seen}`)
    const first = watch.status === 410 ? (await watch.rest()).toString() : ((await watch.line()) ?? '')
    expect(first).toContain('"code":410')
    expect(versionOf(await served.create('again'))).toBeGreaterThan(seen)
  }, 180_000)

  it('saves a stopped server, and repairs a damaged one', async () => {
    for (const name of ['a', 'b', 'c']) await served.create(name)
    await served.kill()
    expect(await store('backup', '--to', file())).toMatch(/^saved \d+ objects/)
    rmSync(join(served.home, 'store/CURRENT'))
    expect(await sentence('check')).toMatch(/ is damaged and is left as it is: its file CURRENT is missing$/)
    expect(await sentence('backup', '--to', file())).toMatch(/CURRENT is missing$/)
    const repaired = join(folder.path, 'repaired')
    expect(await store('repair', '--to', repaired)).toMatch(
      /^read \d+ records\nnothing is known to be lost\nmade a store of \d+ objects in \S+, which begins at revision \d+; to use it, /,
    )
    renameSync(join(served.home, 'store'), join(folder.path, 'old'))
    renameSync(repaired, join(served.home, 'store'))
    await served.start()
    expect((await namesNow()).names).toEqual(['a', 'b', 'c'])
    expect(await sentence('restore', '--from', file())).toMatch(/ is there already: move it away$/)
    appendFileSync(file(), 'x')
    expect(await sentence('restore', '--from', file())).toMatch(/ cannot be used: it is damaged: /)
  }, 120_000)

  it('leaves the objects of a server in etcd to the tools of etcd, but for a backup', async context => {
    if (withoutEtcd !== undefined) return context.skip(withoutEtcd)
    const etcd = await Etcd.start()
    const replica = new Served(join(folder.path, 'replica'))
    const at = ['--home', replica.home]
    try {
      await replica.start('--store', `etcd://${etcd.servers[0]?.host}`)
      await replica.create('a')
      expect(await runRole(['store', 'backup', ...at, '--to', file()])).toMatch(
        /^saved \d+ objects at revision /,
      )
      const instead = 'etcd itself knows whether it is whole'
      const note = join(replica.home, 'store-in-etcd')
      for (const [args, what] of [
        [['check'], instead],
        [['repair', '--to', file()], instead],
        [
          ['restore', '--from', file()],
          `name that with --store, or remove ${note} to restore it in the home`,
        ],
      ] as const) {
        const { code, output } = await runToEnd(['store', ...args, ...at])
        expect([code, output]).toEqual([
          1,
          `isthmus: the objects of the server in ${replica.home} are in etcd://${etcd.servers[0]?.host}/isthmus/local: ${what}`,
        ])
      }
    } finally {
      await replica.kill()
      await etcd.stop()
    }
  }, 120_000)
})
