import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serviceFacts } from '../../../../dns/source/facts.ts'
import { storedServices, writeServices } from '../../../../dns/source/snapshot-file.ts'
import { SnapshotKeeper } from '../../../../dns/source/snapshot-keeper.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { aClusterSetIp } from '../../../support/dns-objects.ts'
import { eventually } from '../../../support/eventually.ts'
import { manualClock } from '../../../support/manual-clock.ts'

let directory = ''
let file = ''
const running = new Set<AbortController>()
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'isthmus-dns-'))
  file = join(directory, 'services')
})
afterEach(async () => {
  for (const controller of running) controller.abort()
  running.clear()
  await rm(directory, { recursive: true })
})

const sourceOf = (ip: string) => storedServices([serviceFacts(aClusterSetIp('prod/web', [ip], []), [])])

function keeping(path: string | undefined = file) {
  const clock = manualClock()
  const log = memoryLogger()
  const controller = new AbortController()
  running.add(controller)
  return {
    clock,
    log,
    signal: controller.signal,
    keeper: new SnapshotKeeper({ file: path, cluster: 'east', clock, log }),
  }
}

describe('kept services', () => {
  it('are written at once, then when they have changed, and marked as current in between', async () => {
    const { clock, signal, keeper } = keeping()
    let source = sourceOf('10.0.0.1')
    const followed = { ...source, keys: () => source.keys(), facts: (key: string) => source.facts(key) }
    const kept = keeper.keep(followed, () => 7, signal)
    await eventually(async () => expect((await stat(file)).mtimeMs).toBe(clock.now()))
    expect(await readFile(file, 'utf8')).toContain('"serial":7')
    source = sourceOf('10.0.0.2')
    await clock.advance(10_000)
    await eventually(async () => expect((await stat(file)).mtimeMs).toBe(clock.now()))
    expect(await readFile(file, 'utf8')).toContain('10.0.0.1')
    keeper.changed()
    await clock.advance(10_000)
    await eventually(async () => expect(await readFile(file, 'utf8')).toContain('10.0.0.2'))
    for (const controller of running) controller.abort()
    await kept
  })

  it('are as old as the time since they were current, until they are current again', async () => {
    const { clock, signal, keeper } = keeping()
    expect(keeper.ageSeconds).toBe(0)
    await writeServices(file, { serial: 7, cluster: 'east' }, [])
    const stored = await keeper.read()
    expect(keeper.ageSeconds).toBeCloseTo(Math.max(0, clock.now() - (stored?.currentAtMs ?? 0)) / 1000)
    await clock.advance(10 * 365 * 24 * 3_600_000)
    expect(keeper.ageSeconds).toBeGreaterThan(3_600)
    const kept = keeper.keep(sourceOf('10.0.0.1'), () => 8, signal)
    expect(keeper.ageSeconds).toBe(0)
    for (const controller of running) controller.abort()
    await kept
  })

  it('are tried again when they cannot be written, and that is logged', async () => {
    const blocked = join(directory, 'blocked')
    await writeFile(blocked, '')
    const { log, keeper, clock, signal } = keeping(join(blocked, 'services'))
    const kept = keeper.keep(sourceOf('10.0.0.1'), () => 7, signal)
    await eventually(() =>
      expect(log.lines).toMatchObject([{ level: 'warn', message: 'periodic task failed' }]),
    )
    await rm(blocked)
    await clock.advance(10_000)
    await eventually(async () =>
      expect(await readFile(join(blocked, 'services'), 'utf8')).toContain('10.0.0.1'),
    )
    for (const controller of running) controller.abort()
    await kept
  })

  it('are written again when somebody has removed them, whether or not they have changed', async () => {
    const { log, keeper, clock, signal } = keeping()
    const kept = keeper.keep(sourceOf('10.0.0.1'), () => 7, signal)
    await eventually(async () => expect((await stat(file)).mtimeMs).toBe(clock.now()))
    await rm(file)
    await clock.advance(10_000)
    await eventually(async () => expect(await readFile(file, 'utf8')).toContain('10.0.0.1'))
    expect(log.lines).toEqual([])
    for (const controller of running) controller.abort()
    await kept
  })

  it('are not used when they are those of another cluster', async () => {
    await writeServices(file, { serial: 7, cluster: 'west' }, [])
    const { log, keeper } = keeping()
    expect(await keeper.read()).toBeUndefined()
    expect(keeper.ageSeconds).toBe(0)
    expect(log.lines).toMatchObject([
      {
        level: 'warn',
        message: 'kept services cannot be used',
        fields: { error: 'they are those of cluster west' },
      },
    ])
  })

  it('are the newest when two are written at once', async () => {
    const { keeper } = keeping()
    const many = Array.from({ length: 2000 }, (_, i) =>
      serviceFacts(aClusterSetIp(`prod/s${i}`, ['10.0.0.1'], []), []),
    )
    const first = keeper.save(storedServices(many), 1)
    const second = keeper.save(sourceOf('10.0.0.2'), 2)
    // Nothing was said to have changed in between, so the second only marks the file.
    await Promise.all([first, second])
    expect(await readFile(file, 'utf8')).toContain('"serial":1')
    keeper.changed()
    const third = keeper.save(storedServices(many), 3)
    await Promise.resolve()
    await Promise.resolve()
    keeper.changed()
    await Promise.all([third, keeper.save(sourceOf('10.0.0.2'), 4)])
    expect(await readFile(file, 'utf8')).toContain('"serial":4')
  })

  it('are nowhere without a file', async () => {
    const { signal } = keeping()
    const none = new SnapshotKeeper({
      file: undefined,
      cluster: 'east',
      clock: manualClock(),
      log: memoryLogger(),
    })
    expect(await none.read()).toBeUndefined()
    await none.keep(sourceOf('10.0.0.1'), () => 1, signal)
    await none.save(sourceOf('10.0.0.1'), 1)
    expect(none.ageSeconds).toBe(0)
  })
})
