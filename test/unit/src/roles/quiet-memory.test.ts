import { describe, expect, it } from 'vitest'
import { never } from '../../../../src/kernel/abort.ts'
import { returnMemory } from '../../../../src/roles/quiet-memory.ts'
import { manualClock } from '../../../support/manual-clock.ts'

type Process = {
  /** The share of work in each second; behind the last there is none. */
  readonly shares: readonly number[]
  readonly seconds: number
  /** When the collector has been through, once it was let; never unless given. */
  readonly collectsAfterMs?: number
  /** The end of the one look that is full of work. */
  readonly fullAtMs?: number
  readonly signal?: AbortSignal
}

/** What is done, and when: `12.25 collect`. */
async function doneIn({ shares, seconds, collectsAfterMs = Infinity, fullAtMs, signal = never }: Process) {
  const clock = manualClock()
  const startMs = clock.now()
  const passedMs = (): number => clock.now() - startMs
  const done: string[] = []
  const note = (what: string): void => {
    done.push(`${passedMs() / 1000} ${what}`)
  }
  let letAtMs = 0
  returnMemory(
    {
      busyShare: () => (passedMs() === fullAtMs ? 1 : (shares[Math.ceil(passedMs() / 1000) - 1] ?? 0)),
      collect(isWanted) {
        if (isWanted) letAtMs = passedMs()
        note(isWanted ? 'collect' : 'stop')
      },
      hasCollected: () => passedMs() - letAtMs >= collectsAfterMs,
      trim: () => note('trim'),
    },
    clock,
    signal,
  )
  await clock.advance(seconds * 1000)
  return done
}

const nothing = (seconds: number): readonly number[] => Array.from({ length: seconds }, () => 0)

describe('memory of a quiet process', () => {
  it('is collected after twenty seconds with little to do, and trimmed behind that', async () => {
    const shares = [0.9, 0.01, 0.19, ...nothing(18), 0.45, 0.3]
    const done = await doneIn({ shares, seconds: 32, collectsAfterMs: 1600 })
    expect(done).toEqual(['21 collect', '26 stop', '26 trim', '31 trim'])
  })

  it('is left alone after a minute, also by a collector that found no reason', async () => {
    const done = await doneIn({ shares: [], seconds: 300 })
    expect(done.filter(each => each.endsWith('trim'))).toHaveLength(12)
    expect(done.slice(0, 5)).toEqual(['20 collect', '25 trim', '30 trim', '35 stop', '35 trim'])
    expect(done.at(-1)).toBe('80 trim')
  })

  it('is left alone by a process that has work every now and then', async () => {
    expect(await doneIn({ shares: [...nothing(19), 0.3, ...nothing(19), 0.3], seconds: 40 })).toEqual([])
  })

  it('is no longer collected a moment after work comes, and all of it begins again', async () => {
    const shares = [...nothing(21), 0.9, 0.3]
    const done = await doneIn({ shares, seconds: 45 })
    expect(done).toEqual(['20 collect', '21.5 stop', '42.5 collect'])
  })

  it('is collected on when the collector takes a moment for itself, which is no moment to trim it', async () => {
    const done = await doneIn({ shares: [], seconds: 36, fullAtMs: 25_000 })
    expect(done).toEqual(['20 collect', '30 trim', '35 stop', '35 trim'])
  })

  it('is collected beside the collector alone: what is work otherwise is work once it is done', async () => {
    const shares = [...nothing(20), ...Array.from({ length: 8 }, () => 0.4)]
    const done = await doneIn({ shares, seconds: 49, collectsAfterMs: 4000 })
    expect(done).toEqual(['20 collect', '25 stop', '25 trim', '48 collect'])
  })

  it('is as it is once the process stops', async () => {
    const stop = new AbortController()
    const done = doneIn({ shares: [], seconds: 30, signal: stop.signal })
    stop.abort()
    expect(await done).toEqual([])
  })
})
