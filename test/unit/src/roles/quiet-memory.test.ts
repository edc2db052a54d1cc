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

const quiet = [0.01, 0.19, 0]
const collecting = [0.45, 0.3, 0, 0, 0]

describe('memory of a quiet process', () => {
  it('is collected after three seconds with little to do, and trimmed once behind that', async () => {
    expect(await doneIn([0.9, ...quiet, ...collecting, 0, 0, 0])).toEqual([
      '',
      '',
      '',
      'collect',
      '',
      '',
      '',
      '',
      '',
      'trim',
      '',
      '',
    ])
  })

  it('is left alone by a process that has work every now and then', async () => {
    expect(await doneIn([0, 0, 0.3, 0, 0, 0.3, 0, 0])).toEqual(['', '', '', '', '', '', '', ''])
  })

  it('is no longer collected when work comes, and all of it begins again', async () => {
    expect(await doneIn([...quiet, 0, 0.6, 0.3, ...quiet])).toEqual([
      '',
      '',
      'collect',
      '',
      'stop',
      '',
      '',
      '',
      'collect',
    ])
  })

  it('is as it is once the process stops', async () => {
    const stop = new AbortController()
    const done = doneIn(quiet, stop.signal)
    stop.abort()
    expect(await done).toEqual([])
  })
})
