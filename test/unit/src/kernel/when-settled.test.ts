import { describe, expect, it } from 'vitest'
import { andThen, unlessFailed, whenSettled } from '../../../../src/kernel/when-settled.ts'

const failed = (thrown: unknown): string => `failed: ${String(thrown)}`
const thrower = (): never => {
  throw new Error('no')
}

describe('what comes after a value', () => {
  it('comes at once when it is there', () => {
    expect(whenSettled(() => 1, String, failed)).toBe('1')
    expect(whenSettled<number, string>(thrower, String, failed)).toBe('failed: Error: no')
  })

  it('comes later when it is waited for', async () => {
    const later = whenSettled(() => Promise.resolve(1), String, failed)
    expect(later).toBeInstanceOf(Promise)
    expect(await later).toBe('1')
    expect(await whenSettled<number, string>(() => Promise.reject(new Error('no')), String, failed)).toBe(
      'failed: Error: no',
    )
  })

  it('and its own failure is told to whoever asked', async () => {
    expect(() => whenSettled(() => 1, thrower, failed)).toThrow('no')
    await expect(whenSettled(() => Promise.resolve(1), thrower, failed)).rejects.toThrow('no')
  })
})

it('what comes next comes at once after what is there, and later after what is not', async () => {
  expect(andThen(1, value => value + 1)).toBe(2)
  expect(await andThen(Promise.resolve(1), value => value + 1)).toBe(2)
  expect(() => andThen(1, thrower)).toThrow('no')
  await expect(andThen(Promise.resolve(1), thrower)).rejects.toThrow('no')
})

describe('what is left of a failure', () => {
  const told = (thrown: unknown): never => {
    throw new Error(`told: ${String(thrown)}`)
  }

  it('is nothing when there was none', async () => {
    expect(unlessFailed(() => 1, told)).toBe(1)
    expect(await unlessFailed(() => Promise.resolve(1), told)).toBe(1)
  })

  it('is what is made of it, at once or later', async () => {
    expect(() => unlessFailed(thrower, told)).toThrow('told: Error: no')
    await expect(unlessFailed(() => Promise.reject(new Error('no')), told)).rejects.toThrow('told: Error: no')
  })
})
