import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeBackup } from '../../../../apiservice/store/backup.ts'
import { formatKey } from '../../../../apiservice/store/level-format.ts'
import { openLevelStore } from '../../../../apiservice/store/level-store.ts'
import { backupIn, repairStore, restoreStore, withStoreIn } from '../../../../apiservice/store/offline.ts'
import type { Revision, Store } from '../../../../apiservice/store-contract.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import {
  aBody,
  aKey,
  created,
  deleted,
  exports,
  imports,
  inScope,
  Recorder,
  updated,
} from '../../../conformance/store/harness.ts'
import { temporaryFolder } from '../../../support/fleet.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { whileInUse } from '../../../support/store-lock.ts'

const startMs = Date.UTC(2026, 0, 1)
let folder: ReturnType<typeof temporaryFolder>
let directory: string
let clock: ReturnType<typeof manualClock>

function open(at = directory): Promise<Store> {
  return openLevelStore({ directory: at, clock, log: silentLogger, metrics: noMetrics })
}

/** Objects of two kinds with and without a history, and a deletion; answers the newest revision. */
async function fill(): Promise<Revision> {
  const store = await open()
  const web = await created(store, aKey('shop/web'))
  const gone = await created(store, aKey('shop/gone'))
  await created(store, aKey('shop/web', imports))
  await store.compact(store.revision())
  for (let index = 0; index < 40; index++) await created(store, aKey(`shop/n${index}`), 'x'.repeat(4000))
  await updated(store, aKey('shop/web'), web, 'second')
  await deleted(store, aKey('shop/gone'), gone)
  const revision = store.revision()
  await store.close()
  return revision
}

async function shown(store: Store): Promise<ReadonlyMap<string, string>> {
  const { items } = await store.list(inScope('', exports, imports), { limit: 0 })
  return new Map(
    items.map(item => [`${item.resource} ${item.name}@${item.revision}`, item.body.toString()] as const),
  )
}

async function everything(at = directory): Promise<ReadonlyMap<string, string>> {
  const store = await open(at)
  try {
    return await shown(store)
  } finally {
    await store.close()
  }
}

/** Names and bytes of the files. */
function filesIn(path: string): ReadonlyMap<string, string> {
  return new Map(readdirSync(path).map(name => [name, readFileSync(join(path, name), 'latin1')] as const))
}

function check(at = directory): Promise<unknown> {
  const options = { clock, log: silentLogger, metrics: noMetrics }
  return withStoreIn(at, options, async ({ store, format }) => {
    const { items, revision } = await store.snapshot()
    return { format, objects: items.length, revision }
  })
}

function logFile(): string {
  return join(directory, readdirSync(directory).find(name => name.endsWith('.log')) ?? '')
}

beforeEach(() => {
  folder = temporaryFolder()
  directory = join(folder.path, 'store')
  clock = manualClock(startMs)
})
afterEach(() => {
  expect(readdirSync(folder.path).filter(name => /copy|parts|lock/.test(name))).toEqual([])
  folder.dispose()
})

describe('a check', () => {
  it('says what is in a store, and changes none of its files', async () => {
    const revision = await fill()
    const before = filesIn(directory)
    expect(await check()).toEqual({ format: 2, objects: 42, revision })
    expect(filesIn(directory)).toEqual(before)
  })

  it('knows a store of format 1, which it leaves one', async () => {
    cpSync(join(import.meta.dirname, 'format-1'), directory, { recursive: true })
    const before = filesIn(directory)
    expect(await check()).toEqual({ format: 1, objects: 2, revision: 6 })
    expect(filesIn(directory)).toEqual(before)
  })

  it('refuses a store that a server has', async () => {
    await fill()
    await whileInUse(directory, () =>
      expect(check()).rejects.toThrow(`the store in ${directory} is in use by another process`),
    )
    expect(await check()).toMatchObject({ objects: 42 })
  })

  it('refuses damage, and leaves it as it is', async () => {
    await fill()
    const bytes = readFileSync(logFile())
    bytes.fill(0x55, 40_000, 40_100)
    writeFileSync(logFile(), bytes)
    const before = filesIn(directory)
    await expect(check()).rejects.toThrow(`the store in ${directory} is damaged and is left as it is: `)
    expect(filesIn(directory)).toEqual(before)
  })

  it.each([
    [{ format: 3, schema: 1 }, /was written by a newer release \(format 3, schema 1; /],
    [undefined, /holds a LevelDB database that is not an Isthmus store$/],
  ])('refuses what is no store of this release (%j)', async (marker, sentence) => {
    const db = new Level<Buffer, Buffer>(directory, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    const key = marker === undefined ? Buffer.from('mine') : formatKey
    await db.put(key, Buffer.from(JSON.stringify(marker ?? {})))
    await db.close()
    await expect(check()).rejects.toThrow(sentence)
  })

  it('refuses a directory without a store', async () => {
    await expect(check()).rejects.toThrow(`there is no store in ${directory}`)
    await expect(check(folder.path)).rejects.toThrow(`there is no store in ${folder.path}`)
  })
})

describe('a repair', () => {
  const target = (): string => join(folder.path, 'repaired')

  /** Nothing is there that was not there before, and revisions go on above all that were given out. */
  async function expectMade(
    before: ReadonlyMap<string, string>,
    newest: Revision,
  ): Promise<ReadonlyMap<string, string>> {
    const made = await everything(target())
    for (const [name, body] of made) expect(before.get(name)).toBe(body)
    const store = await open(target())
    expect(store.oldest()).toBe(store.revision())
    expect(store.revision()).toBeGreaterThan(newest + 100_000)
    expect(await new Recorder(store, inScope(), newest).end()).toBe('expired')
    expect(await created(store, aKey('shop/new'))).toBeGreaterThan(newest)
    await store.close()
    return made
  }

  it('of a store that is whole loses nothing but the history', async () => {
    const newest = await fill()
    const before = await everything()
    const files = filesIn(directory)
    expect(await repairStore(directory, target(), clock)).toMatchObject({ objects: 42, lost: [] })
    expect(filesIn(directory)).toEqual(files)
    expect(await expectMade(before, newest)).toEqual(before)
  })

  it('tells which changes a hole in the write-ahead log has taken', async () => {
    const newest = await fill()
    const before = await everything()
    rmSync(directory, { recursive: true })
    await fill()
    const bytes = readFileSync(logFile())
    bytes.fill(0x55, 40_000, 40_100)
    writeFileSync(logFile(), bytes)
    const { lost, objects } = await repairStore(directory, target(), clock)
    expect(lost.at(-1)).toMatch(/^changes after revision \d+, up to \d+$/)
    expect(objects).toBeLessThan(42)
    expect(await expectMade(before, newest)).toHaveProperty('size', objects)
  })

  it('reads as much when a server was started on the damage before', async () => {
    await fill()
    const bytes = readFileSync(logFile())
    bytes.fill(0x55, 40_000, 40_100)
    writeFileSync(logFile(), bytes)
    cpSync(directory, join(folder.path, 'untouched'), { recursive: true })
    for (let time = 0; time < 2; time++)
      await expect(open()).rejects.toThrow('is damaged and is left as it is')
    const { lost, objects, records } = await repairStore(join(folder.path, 'untouched'), target(), clock)
    const after = await repairStore(directory, join(folder.path, 'again'), clock)
    expect(after).toMatchObject({ lost, objects, records })
  })

  it('tells what was cut off the end', async () => {
    const newest = await fill()
    const bytes = readFileSync(logFile())
    writeFileSync(logFile(), bytes.subarray(0, bytes.length - 3))
    const { lost } = await repairStore(directory, target(), clock)
    expect(lost).toEqual([`changes after revision ${newest - 1}, up to ${newest}`])
  })

  it.each(['CURRENT', 'MANIFEST', 'REVISION'])('needs no %s', async part => {
    const newest = await fill()
    const before = await everything()
    rmSync(join(directory, readdirSync(directory).find(name => name.startsWith(part)) ?? ''))
    await repairStore(directory, target(), clock)
    expect(await expectMade(before, newest)).toEqual(before)
  })

  it('refuses what it cannot do', async () => {
    await expect(repairStore(directory, target(), clock)).rejects.toThrow(`there is no store in ${directory}`)
    await fill()
    await whileInUse(directory, () =>
      expect(repairStore(directory, target(), clock)).rejects.toThrow(
        `${directory} is in use by another process`,
      ),
    )
    await expect(repairStore(directory, directory, clock)).rejects.toThrow(`${directory} is there already: `)
    rmSync(directory, { recursive: true })
    const db = new Level(directory)
    await db.put('a', 'b')
    await db.close()
    await expect(repairStore(directory, target(), clock)).rejects.toThrow(
      `the store in ${directory} cannot be repaired: nothing in it is of a store`,
    )
  })
})

describe('a restored store', () => {
  async function backup(): Promise<Buffer> {
    const store = await open()
    const bytes = Buffer.concat([...encodeBackup(await store.snapshot(), clock.now())])
    await store.close()
    return bytes
  }

  it('holds what was saved, and its revisions go on above all that were given out since', async () => {
    await fill()
    const saved = await everything()
    const bytes = await backup()
    let store = await open()
    for (let index = 0; index < 500; index++) await created(store, aKey(`later/n${index}`))
    const seen = store.revision()
    await store.close()
    rmSync(directory, { recursive: true })
    await clock.advance(3_600_000)
    const read = backupIn({ path: 'hub.backup', bytes })
    expect(read.at).toBe(startMs)
    const { objects, revision } = await restoreStore(read, directory, clock)
    expect(objects).toBe(42)
    // As many as a server could have written in an hour.
    expect(revision).toBeGreaterThan(3600 * 50_000)
    expect(await everything()).toEqual(saved)
    store = await open()
    expect(store.revision()).toBe(revision)
    expect(await new Recorder(store, inScope(), seen).end()).toBe('expired')
    await expect(store.list(inScope(), { revision: seen, limit: 0 })).rejects.toMatchObject({ code: 410 })
    const web = await store.get(aKey('shop/web'))
    expect(await updated(store, aKey('shop/web'), web?.revision ?? 0, 'third')).toBe(revision + 1)
    await store.close()
    expect(await check()).toMatchObject({ objects: 42, revision: revision + 1 })
  })

  it('is made by nothing but a whole backup, and never over another store', async () => {
    await fill()
    const bytes = await backup()
    const whole = backupIn({ path: 'hub.backup', bytes })
    await expect(restoreStore(whole, directory, clock)).rejects.toThrow('is there already')
    const part = { path: 'hub.backup', bytes: bytes.subarray(0, -1) }
    const sentence = 'the backup hub.backup cannot be used: it is damaged: its end is missing'
    expect(() => backupIn(part)).toThrow(sentence)
    expect(readdirSync(folder.path)).toEqual(['store'])
    expect(() => backupIn({ path: 'x', bytes: aBody('x') })).toThrow(
      'the backup x cannot be used: it is no backup of a store',
    )
  })
})
