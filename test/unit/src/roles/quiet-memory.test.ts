import { describe, expect, it } from 'vitest'
import { never } from '../../../../src/kernel/abort.ts'
import { returnMemory } from '../../../../src/roles/quiet-memory.ts'
import { manualClock } from '../../../support/manual-clock.ts'

/** What is done in each second whose share of work is given. */
async function doneIn(shares: readonly number[], signal: AbortSignal = never): Promise<readonly string[]> {
  const clock = manualClock()
  let at = 0
  const done: string[][] = []
  returnMemory(
    {
      busyShare: () => {
        done.push([])
        return shares[at++] ?? 0
      },
      collect: isWanted => done.at(-1)?.push(isWanted ? 'collect' : 'stop'),
      trim: () => done.at(-1)?.push('trim'),
    },
    clock,
    signal,
  )
  for (const _ of shares) await clock.advance(1000)
  return done.map(actions => actions.join(' '))
}

const quiet = [0.01, 0.19, ...Array.from({ length: 8 }, () => 0)]
const nothing = quiet.map(() => '')
const begun = nothing.with(-1, 'collect')

describe('memory of a quiet process', () => {
  it('is collected after ten seconds with little to do, and trimmed behind that', async () => {
    const done = await doneIn([0.9, ...quiet, 0.45, 0.3, 0, 0, 0, ...quiet])
    expect(done).toEqual(['', ...begun, '', '', '', '', 'trim', ...nothing.with(4, 'trim').with(9, 'trim')])
  })

  it('is left alone after a minute', async () => {
    const done = await doneIn(Array.from({ length: 200 }, () => 0))
    expect(done.filter(action => action === 'trim')).toHaveLength(12)
    expect(done.slice(70).join('')).toBe('')
  })

  it('is left alone by a process that has work every now and then', async () => {
    const shares = [...quiet.slice(1), 0.3, ...quiet.slice(1), 0.3]
    expect(await doneIn(shares)).toEqual(shares.map(() => ''))
  })

  it('is no longer collected when work comes, and all of it begins again', async () => {
    expect(await doneIn([...quiet, 0, 0.6, 0.3, ...quiet])).toEqual([...begun, '', 'stop', '', ...begun])
  })

  it('is collected beside the collector alone: more work than that is seen as work once it is done', async () => {
    const minute = Array.from({ length: 60 }, () => 0.4)
    const done = await doneIn([...quiet, ...minute, 0.4, ...quiet])
    expect(done.slice(quiet.length + minute.length)).toEqual(['stop', ...begun])
  })

  it('is as it is once the process stops', async () => {
    const stop = new AbortController()
    const done = doneIn(quiet, stop.signal)
    stop.abort()
    expect(await done).toEqual([])
  })
})
