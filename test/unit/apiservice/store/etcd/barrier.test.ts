import { describe, expect, it } from 'vitest'
import { Barrier } from '../../../../../apiservice/store/etcd/barrier.ts'
import { settled } from '../../../../support/manual-clock.ts'

/** Requests that are answered when a test says so. */
function requests() {
  const asked: PromiseWithResolvers<number>[] = []
  const barrier = new Barrier(() => {
    const request = Promise.withResolvers<number>()
    asked.push(request)
    return request.promise
  })
  return { asked, barrier }
}

describe('reads that wait for the newest revision', () => {
  it('share one request when they come at once', async () => {
    const { asked, barrier } = requests()
    const reads = [barrier.newest(), barrier.newest(), barrier.newest()]
    await settled()
    expect(asked).toHaveLength(1)
    asked[0]?.resolve(7)
    expect(await Promise.all(reads)).toEqual([7, 7, 7])
  })

  it('never take the answer of a request that had begun before they came', async () => {
    const { asked, barrier } = requests()
    const early = barrier.newest()
    await settled()
    const late = [barrier.newest(), barrier.newest()]
    await settled()
    expect(asked).toHaveLength(1)
    asked[0]?.resolve(7)
    expect(await early).toBe(7)
    await settled()
    expect(asked).toHaveLength(2)
    asked[1]?.resolve(9)
    expect(await Promise.all(late)).toEqual([9, 9])
  })

  it('fail alone: the next ones ask again', async () => {
    const { asked, barrier } = requests()
    const failing = barrier.newest()
    await settled()
    const next = barrier.newest()
    asked[0]?.reject(new Error('away'))
    await expect(failing).rejects.toThrow('away')
    await settled()
    asked[1]?.resolve(3)
    expect(await next).toBe(3)
  })
})
