import { beforeEach, describe, expect, it } from 'vitest'
import { NoRoom } from '../../../../src/export/no-room.ts'
import { forbidden, invalid, quotaExceeded, unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'

const kind = { group: 'hub.isthmus.dev', kind: 'ExportedService', plural: 'exportedservices' }
const full = forbidden({ group: kind.group, resource: kind.plural }, 'x', 'exceeded quota', [
  { reason: quotaExceeded, message: 'full' },
])

describe('what waits for room', () => {
  let log: ReturnType<typeof memoryLogger>
  let retried: string[]
  let waiting: NoRoom
  beforeEach(async () => {
    retried = []
    log = memoryLogger()
    waiting = new NoRoom({ name: 'exports', log, retry: key => retried.push(key) })
    for (const key of ['a', 'b']) await waiting.enter(key, () => Promise.reject(full))
  })

  it('makes room for the next when the hub refuses it for another reason', async () => {
    const refusal = invalid(kind, 'a', [])
    await expect(waiting.enter('a', () => Promise.reject(refusal))).rejects.toBe(refusal)
    expect(retried).toEqual(['b'])
    waiting.tryNext()
    expect(retried).toEqual(['b', 'b'])
  })

  it('brings nobody else while the hub does not answer, and does not hold them up', async () => {
    const away = unavailable('the hub is away')
    await expect(waiting.enter('a', () => Promise.reject(away))).rejects.toBe(away)
    expect(retried).toEqual([])
    waiting.tryNext()
    expect(retried).toEqual(['b'])
  })

  it('stands at the end when there is still no room, which is told once', async () => {
    await waiting.enter('a', () => Promise.reject(full))
    waiting.tryNext()
    await waiting.enter('b', async () => 'written')
    await waiting.enter('a', () => Promise.reject(full))
    expect(retried).toEqual(['b', 'a'])
    expect(log.lines).toHaveLength(1)
  })
})
