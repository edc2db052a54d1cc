// A server as a process of its own, whose disk is full, fails or hangs: what its clients meet, and how it comes back.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ApiAnswer, OpenAnswer } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { injectIntoSyncs, type SmallDisk, smallDisk, whyNoMount } from './disk.ts'
import { exportsPath, patienceMs, Served, unknown } from './served.ts'
import { whyNoTrace } from './trace.ts'

/** Reads events up to that of an object, and answers their names. */
async function namesUpTo(watch: OpenAnswer, last: string): Promise<readonly string[]> {
  const names: string[] = []
  while (names.at(-1) !== last) {
    const { object } = JSON.parse((await watch.line()) ?? 'null')
    names.push(object.metadata.name)
  }
  return names
}

const folder = temporaryFolder()
let served: Served
let undo: (() => Promise<void>)[]

async function begin(disk?: SmallDisk): Promise<void> {
  served = new Served(join(folder.path, 'disk', `home-${undo.length}`), disk)
  undo.push(() => served.kill())
  await served.start()
  for (const name of ['a', 'b', 'c']) expect((await served.create(name)).status).toBe(201)
}

beforeEach(() => {
  undo = []
  mkdirSync(join(folder.path, 'disk'))
})
afterEach(async () => {
  for (const step of undo.reverse()) await step()
  folder.dispose()
  mkdirSync(folder.path)
})

function unless(why: string | undefined): string {
  return why === undefined ? '' : ` (skipped: ${why})`
}

const noMount = whyNoMount()
const noTrace = whyNoTrace()

describe('a server', () => {
  it.skipIf(noMount !== undefined)(
    `on a disk that is full reads on, and writes again when there is room${unless(noMount)}`,
    async () => {
      const disk = await smallDisk(join(folder.path, 'disk'), '16m')
      undo.push(() => disk.remove())
      await begin(disk)
      const watch = await served.client.open(
        `${exportsPath}?watch=1&resourceVersion=${served.answered.get('c')}`,
      )
      const filler = disk.seen(join(folder.path, 'disk/filler'))
      expect(() => writeFileSync(filler, Buffer.alloc(32 * 1024 * 1024))).toThrow(/ENOSPC/)
      let answer: ApiAnswer | undefined
      // What is left of a page takes a few more.
      for (let count = 0; count < 100 && answer?.status !== 503; count++) {
        answer = await served.create(`filling-${count}`, 'x'.repeat(100_000))
      }
      expect(answer).toMatchObject(unknown)
      expect(answer?.text).toMatch(/, its disk is full: it is unknown whether the change was made/)
      await served.expectOnlyReads('its disk is full')
      rmSync(filler)
      await eventually(async () => expect((await served.create('after')).status).toBe(201), patienceMs)
      const seen = await namesUpTo(watch, 'after')
      for (const name of served.answered.keys()) {
        if (!['a', 'b', 'c'].includes(name)) expect(seen).toContain(name)
      }
      expect(seen).not.toContain('refused')
      expect(new Set(seen).size).toBe(seen.length)
      await served.expectHealed()
    },
    180_000,
  )

  it.skipIf(noTrace !== undefined)(
    `whose syncs fail with EIO reads on, and writes again when they succeed${unless(noTrace)}`,
    async () => {
      await begin()
      const mend = await injectIntoSyncs(served.pid, 'error=EIO')
      undo.push(mend)
      const failed = await served.create('unknown')
      expect(failed).toMatchObject(unknown)
      expect(failed.text).toMatch(/, its disk has errors: it is unknown whether the change was made/)
      await eventually(() => served.expectOnlyReads('its disk has errors'))
      await mend()
      await served.expectHealed()
    },
    180_000,
  )

  it.skipIf(noTrace !== undefined)(
    `whose disk hangs says so after a while, and shows at last what it had begun${unless(noTrace)}`,
    async () => {
      await begin()
      const watch = await served.client.open(
        `${exportsPath}?watch=1&resourceVersion=${served.answered.get('c')}`,
      )
      const mend = await injectIntoSyncs(served.pid, `delay_enter=${600 * 1_000_000}`)
      undo.push(mend)
      const hung = await served.create('hung')
      expect(hung).toMatchObject(unknown)
      expect(hung.text).toMatch(/, its disk does not answer: it is unknown whether the change was made/)
      await served.expectOnlyReads('its disk does not answer')
      await mend()
      await eventually(async () => expect((await served.create('after')).status).toBe(201), patienceMs)
      expect(await namesUpTo(watch, 'after')).toEqual(['hung', 'after'])
      await served.expectHealed()
    },
    180_000,
  )
})
