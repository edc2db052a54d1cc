// One seed for everything random in tests, so that a run can be repeated and a red one is never luck: `SEED=n` sets it,
// `SEED=random` draws one. `npm run fuzz` draws, `npm test` takes the one below.
import fc from 'fast-check'

const given = process.env.SEED ?? '1645'

/** Unsigned, below 2^31. */
export const seed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given)

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })
