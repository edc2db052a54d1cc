import { describe, expect, it } from 'vitest'
import { Progress } from '../../../../../apiservice/store/etcd/progress.ts'
import { manualClock, settled } from '../../../../support/manual-clock.ts'

describe('progress in the changes of etcd', () => {
  it('lets those go on whose revision has been reached, whatever the order in which they came', async () => {
    const progress = new Progress(manualClock())
    const reached: number[] = []
    for (const revision of [5, 3, 9, 3, 7]) {
      progress.reached(revision, 1000).then(
        () => reached.push(revision),
        () => undefined,
      )
    }
    progress.advance(3)
    await settled()
    expect(reached).toEqual([3, 3])
    progress.advance(2)
    expect(progress.revision).toBe(3)
    progress.advance(7)
    await settled()
    expect(reached).toEqual([3, 3, 5, 7])
    await progress.reached(6, 1000)
  })

  it('is waited for no longer than one is told to', async () => {
    const clock = manualClock()
    const progress = new Progress(clock)
    const late = progress.reached(5, 1000)
    const patient = progress.reached(5, 2000)
    const failed = expect(late).rejects.toMatchObject({ code: 503, reason: 'ServiceUnavailable' })
    await clock.advance(1500)
    await failed
    progress.advance(5)
    await patient
    expect(clock.pending).toBe(0)
  })

  it('goes back when memory was read anew', async () => {
    const progress = new Progress(manualClock())
    progress.advance(9)
    progress.restart(4)
    expect(progress.revision).toBe(4)
  })
})
