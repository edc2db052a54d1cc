import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { onAbort, unlessAborted } from '../../../../src/kernel/abort.ts'

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length

describe('onAbort', () => {
  it('runs all that wait, once each, over one listener', () => {
    const stop = new AbortController()
    const ran: string[] = []
    const run = (): number => ran.push('same')
    onAbort(stop.signal, run)
    onAbort(stop.signal, run)
    onAbort(stop.signal, () => ran.push('other'))
    expect(listeners(stop.signal)).toBe(1)
    stop.abort()
    stop.abort()
    expect(ran).toEqual(['same', 'same', 'other'])
  })

  it('runs nothing that was taken back, and leaves nothing on the signal', () => {
    const stop = new AbortController()
    const ran: string[] = []
    const forget = onAbort(stop.signal, () => ran.push('first'))
    const forgetOther = onAbort(stop.signal, () => ran.push('second'))
    forget()
    forget()
    expect(listeners(stop.signal)).toBe(1)
    forgetOther()
    expect(listeners(stop.signal)).toBe(0)
    onAbort(stop.signal, () => ran.push('third'))
    forgetOther()
    stop.abort()
    expect(ran).toEqual(['third'])
  })

  it('lets one take back another while it runs', () => {
    const stop = new AbortController()
    const ran: string[] = []
    const forget: (() => void)[] = []
    onAbort(stop.signal, () => {
      for (const each of forget) each()
    })
    forget.push(onAbort(stop.signal, () => ran.push('late')))
    stop.abort()
    expect(ran).toEqual([])
  })
})

describe('unlessAborted', () => {
  it('says what the promise says, and leaves nothing on the signal', async () => {
    const stop = new AbortController()
    expect(await unlessAborted(Promise.resolve(1), stop.signal)).toBe(1)
    await expect(unlessAborted(Promise.reject(new Error('no')), stop.signal)).rejects.toThrow('no')
    expect(listeners(stop.signal)).toBe(0)
  })

  it('rejects when the signal aborts, before and after', async () => {
    const stop = new AbortController()
    const waiting = unlessAborted(new Promise(() => undefined), stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(unlessAborted(Promise.resolve(1), stop.signal)).rejects.toThrow('enough')
  })
})
