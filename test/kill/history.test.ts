// What is kept of older states is what the settings say.
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { exportsPath, patienceMs, Served } from './served.ts'

let folder: ReturnType<typeof temporaryFolder>
let served: Served

beforeEach(() => {
  folder = temporaryFolder()
  served = new Served(join(folder.path, 'home'))
})
afterEach(async () => {
  await served.kill()
  folder.dispose()
})

async function listAt(revision: number | undefined): Promise<number> {
  const at = `?resourceVersion=${revision}&resourceVersionMatch=Exact`
  return (await served.client.send(`${exportsPath}${at}`)).status
}

async function metric(name: string): Promise<number> {
  const { text } = await served.client.send('/metrics')
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

describe('the history of a server', () => {
  it('is cut to its size', async () => {
    await served.start('--history-size', '1')
    await served.create('first')
    for (let count = 0; count < 10; count++) await served.create(`n${count}`, 'x'.repeat(100_000))
    expect(await listAt(served.answered.get('first'))).toBe(200)
    const headers = { 'content-type': 'application/merge-patch+json' }
    for (let count = 0; count < 20; count++) {
      const body = JSON.stringify({ metadata: { annotations: { filling: `${count}`.repeat(50_000) } } })
      const path = `${exportsPath}/n${count % 10}`
      expect((await served.client.send(path, { method: 'PATCH', headers, body })).status).toBe(200)
    }
    expect(await listAt(served.answered.get('first'))).toBe(410)
    expect(await metric('isthmus_store_history_cut_total')).toBeGreaterThan(0)
    expect(await metric('isthmus_store_history_bytes')).toBeLessThanOrEqual(1024 * 1024)
  }, 120_000)

  it('ends after its time', async () => {
    await served.start('--history', '10s')
    await served.create('first')
    await served.create('second')
    expect(await listAt(served.answered.get('first'))).toBe(200)
    await eventually(async () => expect(await listAt(served.answered.get('first'))).toBe(410), patienceMs)
    expect(await metric('isthmus_store_history_cut_total')).toBe(0)
  }, 120_000)
})
