import { cp, mkdir, mkdtemp, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatKey } from '../../../../apiservice/store/level-format.ts'
import { LevelLog } from '../../../../apiservice/store/level-log.ts'
import { openLevelStore } from '../../../../apiservice/store/level-store.ts'
import { StoreOpenError } from '../../../../apiservice/store/open-error.ts'
import type { Store } from '../../../../apiservice/store-contract.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { aKey, created, inScope, Recorder, updated } from '../../../conformance/store/harness.ts'
import { eventually } from '../../../support/eventually.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { whileInUse } from '../../../support/store-lock.ts'

let parent: string
let directory: string

function openStore(at = directory): Promise<Store> {
  return openLevelStore({ directory: at, clock: manualClock(), log: silentLogger, metrics: noMetrics })
}

function openDatabase(): Level<Buffer, Buffer> {
  return new Level(directory, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
}

/** The error with which a store refuses to open: one sentence that names the directory. */
async function refusal(at = directory): Promise<StoreOpenError> {
  const error = await openStore(at).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof StoreOpenError)) throw new Error('the store was opened', { cause: error })
  expect(error.message).toMatch(/^the .*[^.]$/)
  expect(error.message).not.toContain('\n')
  expect(error.message).toContain(at)
  expect(error.directory).toBe(at)
  return error
}

/** A store with some thousand objects, some of them in table files. */
async function fill(): Promise<void> {
  const store = await openStore()
  await Promise.all(
    Array.from({ length: 3000 }, (_, index) => created(store, aKey(`shop/n${index}`), `${index}`)),
  )
  await store.close()
  // Opening turns the write-ahead log into a table.
  await (await openStore()).close()
}

async function dataFile(ending: string, of = directory): Promise<string> {
  const name = (await readdir(of)).find(file => file.endsWith(ending))
  if (name === undefined) throw new Error(`there is no file ${ending}`)
  return join(of, name)
}

function revisionLine(revision: number): string {
  return `${String(revision).padStart(16, '0')}\n`
}

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'isthmus-level-'))
  directory = join(parent, 'deep', 'store')
})

afterEach(() => rm(parent, { recursive: true }))

describe('a LevelDB store', () => {
  it('makes its directory for its owner only', async () => {
    const store = await openStore()
    await store.close()
    const handle = await open(directory)
    expect((await handle.stat()).mode & 0o777).toBe(0o700)
    await handle.close()
  })

  it('asks for a sync whenever it writes: what comes next may rely on drops', async () => {
    const db = openDatabase()
    await db.put(Buffer.from('m/start'), Buffer.from('{"floor":1,"live":0}'))
    const log = await LevelLog.of(db)
    const options: unknown[] = []
    const original: unknown = db.batch
    if (typeof original !== 'function') throw new Error('there is no batch')
    Object.defineProperty(db, 'batch', {
      value: (operations: unknown, asked: unknown): unknown => {
        options.push(asked)
        return Reflect.apply(original, db, [operations, asked])
      },
    })
    await log.write({ append: [{ revision: 2, value: Buffer.from('x') }], drop: [] })
    await log.write({ append: [], drop: [2], start: { floor: 2, live: 0 } })
    expect(options).toEqual([{ sync: true }, { sync: true }])
    await log.close()
  })

  it('leaves no second names of logs when it was found whole', async () => {
    await fill()
    expect((await readdir(directory)).filter(name => name.endsWith('.kept'))).toEqual([])
  })

  it('keeps revisions beyond 32 bits in order', async () => {
    const db = openDatabase()
    await db.put(Buffer.from('m/start'), Buffer.from('{"floor":1,"live":0}'))
    const log = await LevelLog.of(db)
    const revisions = [2, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 40, Number.MAX_SAFE_INTEGER]
    await log.write({
      append: revisions.map(revision => ({ revision, value: Buffer.from(`${revision}`) })),
      drop: [],
    })
    const seen: number[] = []
    for await (const entries of log.scan(2)) seen.push(...entries.map(entry => entry.revision))
    expect(seen).toEqual(revisions.slice(1))
    expect(await log.read([2 ** 40, 7])).toEqual([Buffer.from(`${2 ** 40}`), undefined])
    await log.close()
  })

  it('leaves on disk only what is needed after a compaction', async () => {
    const store = await openStore()
    let revision = await created(store, aKey('shop/web'))
    for (let count = 0; count < 700; count++)
      revision = await updated(store, aKey('shop/web'), revision, `${count}`)
    await store.compact(revision)
    await store.close()
    const db = openDatabase()
    expect(await db.keys().all()).toHaveLength(3)
    await db.close()
  })
})

describe('a directory that is no good', () => {
  it('is refused when another store has it open', async () => {
    const store = await openStore()
    expect(await refusal()).toMatchObject({ problem: 'locked', message: expect.stringContaining('in use') })
    await store.close()
    await (await openStore()).close()
  })

  it('is refused when another process has it open', async () => {
    await mkdir(directory, { recursive: true })
    await whileInUse(directory, async () => expect(await refusal()).toMatchObject({ problem: 'locked' }))
  })

  it('is refused when it cannot be made or is a file', async () => {
    await writeFile(join(parent, 'file'), '')
    expect(await refusal(join(parent, 'file'))).toMatchObject({ problem: 'unwritable' })
    expect(await refusal(join(parent, 'file', 'store'))).toMatchObject({ problem: 'unwritable' })
    expect(await refusal('/proc/isthmus-store')).toMatchObject({ problem: 'unwritable' })
  })

  it('is refused when it holds another database', async () => {
    await mkdir(directory, { recursive: true })
    const db = openDatabase()
    await db.put(Buffer.from('mine'), Buffer.from('x'))
    await db.close()
    expect(await refusal()).toMatchObject({ problem: 'foreign' })
  })

  it.each([
    { format: 3, schema: 1 },
    { format: 2, schema: 2 },
  ])('is refused when a newer release wrote it (%j)', async marker => {
    await (await openStore()).close()
    const db = openDatabase()
    await db.put(formatKey, Buffer.from(JSON.stringify(marker)))
    await db.close()
    const error = await refusal()
    expect(error.problem).toBe('newer')
    expect(error.message).toContain(`format ${marker.format}, schema ${marker.schema};`)
  })

  it.each(['', '{', '7', 'null', '{"format":"a","schema":1}'])(
    'is refused when its marker is damaged (%s)',
    async marker => {
      await (await openStore()).close()
      const db = openDatabase()
      await db.put(formatKey, Buffer.from(marker))
      await db.close()
      expect(await refusal()).toMatchObject({ problem: 'corrupt' })
    },
  )

  it('is opened as new when the very first opening was cut short', async () => {
    await mkdir(directory, { recursive: true })
    const db = openDatabase()
    await db.open()
    await db.close()
    const store = await openStore()
    expect(store.revision()).toBe(1)
    await store.close()
  })
})

describe('a directory whose very first opening was killed', () => {
  it('is opened as new also when there was no CURRENT yet', async () => {
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'MANIFEST-000001'), '')
    await writeFile(join(directory, '000001.dbtmp'), 'MANIF')
    const store = await openStore()
    expect(store.revision()).toBe(1)
    await created(store, aKey('shop/a'))
    await store.close()
    await (await openStore()).close()
  })
})

describe('damage', () => {
  it('is found when CURRENT is missing, where LevelDB would begin anew', async () => {
    await fill()
    await rm(join(directory, 'CURRENT'))
    expect(await refusal()).toMatchObject({ problem: 'corrupt', message: expect.stringContaining('CURRENT') })
    expect(await readdir(directory)).not.toContain('CURRENT')
  })

  it.each(['MANIFEST', 'ldb'])('is found when a file is gone (%s)', async part => {
    await fill()
    const name = (await readdir(directory)).find(file => file.includes(part))
    await rm(join(directory, name ?? ''))
    expect(await refusal()).toMatchObject({ problem: 'corrupt' })
  })

  it('is found when bytes of a table are changed', async () => {
    await fill()
    const file = await dataFile('.ldb')
    const bytes = await readFile(file)
    const middle = Math.floor(bytes.length / 2)
    bytes.fill(0x55, middle, middle + 200)
    await writeFile(file, bytes)
    expect(await refusal()).toMatchObject({ problem: 'corrupt' })
  })

  it('is found when a table is cut off', async () => {
    await fill()
    const file = await dataFile('.ldb')
    const bytes = await readFile(file)
    await writeFile(file, bytes.subarray(0, bytes.length - 5000))
    expect(await refusal()).toMatchObject({ problem: 'corrupt' })
  })

  it('is found when bytes within the write-ahead log are changed, which LevelDB skips in silence', async () => {
    const store = await openStore()
    for (let index = 0; index < 40; index++) await created(store, aKey(`shop/n${index}`), 'x'.repeat(4000))
    await store.close()
    const file = await dataFile('.log')
    const bytes = await readFile(file)
    bytes.fill(0x55, 40_000, 40_100)
    await writeFile(file, bytes)
    const db = openDatabase()
    await db.open()
    await db.close()
    expect(await refusal()).toMatchObject({ problem: 'corrupt', message: expect.stringContaining('missing') })
  })

  it('is found when an object is missing that no longer has a history', async () => {
    const store = await openStore()
    const revision = await created(store, aKey('shop/a'))
    await created(store, aKey('shop/b'))
    await store.compact(store.revision())
    await store.close()
    const db = openDatabase()
    const [key] = await db.keys({ gte: Buffer.from('r'), limit: 1 }).all()
    expect(key?.readUInt32BE(5)).toBe(revision)
    await db.del(key ?? Buffer.alloc(0))
    await db.close()
    expect(await refusal()).toMatchObject({
      problem: 'corrupt',
      message: expect.stringContaining('2 objects, not 1'),
    })
  })

  it('is not what a torn last write is', async () => {
    const store = await openStore()
    await created(store, aKey('shop/a'))
    await created(store, aKey('shop/b'))
    const killed = join(parent, 'killed')
    await cp(directory, killed, { recursive: true })
    await store.close()
    const file = await dataFile('.log', killed)
    const bytes = await readFile(file)
    await writeFile(file, bytes.subarray(0, bytes.length - 3))
    // That it was durable is said after it is.
    await writeFile(join(killed, 'REVISION'), revisionLine(2))
    const reopened = await openStore(killed)
    expect((await reopened.list(inScope(), { limit: 0 })).items.map(item => item.name)).toEqual(['a'])
    await reopened.close()
  })

  it('is found when the end of the write-ahead log is cut off after a good end', async () => {
    const store = await openStore()
    await created(store, aKey('shop/a'))
    await created(store, aKey('shop/b'))
    await store.close()
    const file = await dataFile('.log')
    const bytes = await readFile(file)
    await writeFile(file, bytes.subarray(0, bytes.length - 3))
    expect(await refusal()).toMatchObject({
      problem: 'corrupt',
      message: expect.stringContaining('record 3 was there once'),
    })
  })

  it('is found when the end is cut off after a kill', async () => {
    const store = await openStore()
    await created(store, aKey('shop/a'))
    await eventually(async () => {
      expect(await readFile(join(directory, 'REVISION'), 'utf8')).toBe(revisionLine(2))
    })
    const killed = join(parent, 'killed')
    await cp(directory, killed, { recursive: true })
    await store.close()
    await truncate(await dataFile('.log', killed))
    expect(await refusal(killed)).toMatchObject({ problem: 'corrupt' })
  })

  it.each(['', '7', 'x\n', '-1\n'])(
    'is found in the file that says how far records reach (%j)',
    async text => {
      await (await openStore()).close()
      await writeFile(join(directory, 'REVISION'), text)
      expect(await refusal()).toMatchObject({ message: expect.stringContaining('REVISION cannot be read') })
    },
  )

  it('is not what a file is that cannot be written', async () => {
    await (await openStore()).close()
    await writeFile(join(directory, 'REVISION'), '1\n')
    await mkdir(join(directory, 'REVISION.new'))
    expect(await refusal()).toMatchObject({
      problem: 'unwritable',
      message: expect.stringContaining('cannot be opened: EISDIR'),
    })
  })

  it('is found when that file is missing', async () => {
    await (await openStore()).close()
    await rm(join(directory, 'REVISION'))
    expect(await refusal()).toMatchObject({ message: expect.stringContaining('REVISION is missing') })
  })
})

describe('a store of format 1', () => {
  const written = join(import.meta.dirname, 'format-1')

  it('is opened with everything in it, and is one of this format from then on', async () => {
    await cp(written, directory, { recursive: true })
    for (let time = 0; time < 2; time++) {
      const store = await openStore()
      expect([store.oldest(), store.revision()]).toEqual([3, 6 + time])
      const items = (await store.list(inScope(), { limit: 0 })).items
      expect(items.map(item => [item.name, item.revision, item.body.toString()])).toEqual([
        ['a', 5, '"name":"second"}}'],
        ['b', 3, '"name":"b"}}'],
        ...(time === 0 ? [] : [['d', 7, '"name":"d"}}']]),
      ])
      const watch = new Recorder(store, inScope(), 3)
      const events = await watch.reached(store.revision())
      expect(events.slice(0, 3)).toEqual(['PUT shop/c@4', 'PUT shop/a@5 after 2', 'DELETE shop/c@6 after 4'])
      if (time === 0) expect(await created(store, aKey('shop/d'))).toBe(7)
      await store.close()
    }
    const db = openDatabase()
    expect(JSON.parse(String(await db.get(formatKey)))).toEqual({ format: 2, schema: 1 })
    await db.close()
  })

  it('is upgraded by the next start when the first one was cut short', async () => {
    await cp(written, directory, { recursive: true })
    await writeFile(join(directory, 'REVISION'), '0\n')
    await writeFile(join(directory, 'REVISION.new'), '')
    const store = await openStore()
    expect(store.revision()).toBe(6)
    await store.close()
  })
})
