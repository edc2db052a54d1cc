// One seed for everything random in tests, so that a run can be repeated and a red one is never luck: `SEED=n` sets it,
// `SEED=random` draws one. `npm run fuzz` draws, `npm test` takes the one below.
import fc from 'fast-check'

const given = process.env.SEED ?? '1645'

/** Unsigned, below 2^31. */
export const seed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given)

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })

/** Numbers in [0, 1) that one seed gives again (mulberry32). */
export function randomOf(from: number): () => number {
  let state = from >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
