import { describe, expect, it } from 'vitest'
import type { Handler, Reply, Stage } from '../../../../apiservice/contract.ts'
import { deadline } from '../../../../apiservice/http/deadline.ts'
import { makeDrain, refuseWhenDraining } from '../../../../apiservice/http/drain.ts'
import { recovery } from '../../../../apiservice/http/recover.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { conflict, internal } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { type ApiRequestOptions, anApiRequest, aResourceInfo } from '../../../support/api-request.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const done: Reply = { type: 'raw', code: 200, headers: {}, body: '' }
const answers: Handler = () => Promise.resolve(done)
const hangs: Handler = () => new Promise(() => undefined)
const failure = (stage: Stage, next: Handler, request: ApiRequestOptions = {}) =>
  Promise.try(stage(next), anApiRequest(request), never).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )

describe('deadline', () => {
  it('answers 504 when the time of ?timeout= has passed, and aborts the work', async () => {
    const clock = manualClock()
    const given: unknown[] = []
    const answer = failure(deadline(clock), hangs, {
      query: new URLSearchParams('timeout=2s'),
      notes: { auditId: '', target: '/version', giveUp: why => given.push(why) },
    })
    await clock.advance(1_999)
    expect(given).toEqual([])
    await clock.advance(1)
    expect(await answer).toMatchObject({
      code: 504,
      reason: 'Timeout',
      message: 'Timeout: request did not complete within the allotted timeout',
    })
    expect(given).toEqual([await answer])
  })

  it.each(['', 'timeout=', 'timeout=0s', 'timeout=2h', 'timeout=-1s'])('is 60 s with ?%s', async query => {
    const clock = manualClock()
    const answer = failure(deadline(clock), hangs, { query: new URLSearchParams(query) })
    await clock.advance(59_999)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    expect(await answer).toMatchObject({ code: 504 })
  })

  it.each([
    ['soon', 'time: invalid duration "soon"'],
    ['5', 'time: missing unit in duration "5"'],
  ])('refuses ?timeout=%s with 400', async (timeout, why) => {
    expect(
      await failure(deadline(manualClock()), answers, { query: new URLSearchParams({ timeout }) }),
    ).toMatchObject({
      code: 400,
      message: `invalid timeout specified in the request URL - ${why}`,
    })
  })

  it('does not bound watches, whatever they ask for', async () => {
    const clock = manualClock()
    const stage = deadline(clock)(answers)
    const request = anApiRequest({
      info: aResourceInfo({ verb: 'watch' }),
      query: new URLSearchParams('timeout=soon'),
    })
    expect(await stage(request, never)).toBe(done)
    expect(clock.pending).toBe(0)
  })

  it('gives each its own time, in whatever order they came', async () => {
    const clock = manualClock()
    const stage = deadline(clock)(hangs)
    const late: string[] = []
    const ask = async (timeout: string): Promise<void> => {
      const query = new URLSearchParams({ timeout })
      void Promise.try(stage, anApiRequest({ query }), never).catch(() => late.push(timeout))
      await settled()
    }
    await ask('30s')
    await ask('2s')
    await ask('5s')
    await clock.advance(2_000)
    expect(late).toEqual(['2s'])
    await ask('1s')
    await clock.advance(1_000)
    expect(late).toEqual(['2s', '1s'])
    await clock.advance(1_999)
    expect(late).toEqual(['2s', '1s'])
    await clock.advance(1)
    expect(late).toEqual(['2s', '1s', '5s'])
    await clock.advance(25_000)
    expect(late).toEqual(['2s', '1s', '5s', '30s'])
  })

  it('passes on what is answered in a later turn, and keeps the time of the others', async () => {
    const clock = manualClock()
    const { promise, resolve } = Promise.withResolvers<Reply>()
    const given: unknown[] = []
    const next: Handler = ({ path }) => (path === '/slow' ? promise : hangs(anApiRequest(), never))
    const stage = deadline(clock)(next)
    const notes = { auditId: '', target: '/slow', giveUp: (why: unknown) => given.push(why) }
    const answered = stage(
      anApiRequest({ path: '/slow', query: new URLSearchParams('timeout=2s'), notes }),
      never,
    )
    const hung = failure(() => stage, answers, { query: new URLSearchParams('timeout=3s') })
    await settled()
    await clock.advance(1_000)
    resolve(done)
    expect(await answered).toBe(done)
    await clock.advance(1_999)
    expect(given).toEqual([])
    await clock.advance(1)
    expect(await hung).toMatchObject({ code: 504 })
    expect(given).toEqual([])
  })

  it('leaves no timer behind an answer or a failure', async () => {
    const clock = manualClock()
    await deadline(clock)(answers)(anApiRequest(), never)
    await failure(deadline(clock), () => Promise.reject(new Error('no')))
    await failure(deadline(clock), () => {
      throw new Error('no')
    })
    await settled()
    expect(clock.pending).toBe(0)
  })
})

describe('drain', () => {
  it('refuses new requests with 429 once the shutdown has begun, but not health', async () => {
    const drain = makeDrain()
    const stage = refuseWhenDraining(drain)
    expect(await stage(answers)(anApiRequest(), never)).toBe(done)
    drain.begin()
    expect(await failure(stage, answers)).toMatchObject({
      code: 429,
      message: 'The apiserver is shutting down, please try again later.',
      details: { retryAfterSeconds: 5 },
    })
    expect(await stage(answers)(anApiRequest({ path: '/readyz' }), never)).toBe(done)
    expect(await stage(answers)(anApiRequest({ path: '/livez/ping' }), never)).toBe(done)
    expect(await failure(stage, answers, { path: '/livezz' })).toMatchObject({ code: 429 })
  })
})

describe('recovery', () => {
  it('lets a Status through as it is', () => {
    const log = memoryLogger()
    const error = conflict({ group: 'g', resource: 'foos' }, 'x')
    expect(recovery(log)(error, anApiRequest(), never)).toBe(error)
    expect(log.lines).toEqual([])
  })

  it('makes what was thrown a 500 that tells nothing, and logs it with its stack', () => {
    const log = memoryLogger()
    const told = recovery(log)(new TypeError('secret detail'), anApiRequest(), never)
    expect(told).toMatchObject({ code: 500, reason: 'InternalError' })
    expect(JSON.stringify(told)).not.toContain('secret')
    expect(log.lines).toMatchObject([
      { level: 'error', message: 'request failed', fields: { path: '/version', error: 'secret detail' } },
    ])
    expect(log.lines[0]?.fields.stack).toContain('TypeError: secret detail')
  })

  it('logs the cause of a 500 that was made below', () => {
    const log = memoryLogger()
    const below = internal('the store is closed', new Error('disk gone'))
    expect(recovery(log)(below, anApiRequest(), never)).toBe(below)
    expect(log.lines).toMatchObject([{ fields: { error: 'disk gone' } }])
  })

  it('does not log what fails because the client is gone', () => {
    const log = memoryLogger()
    const gone = AbortSignal.abort(new Error('the client is gone'))
    expect(recovery(log)(gone.reason, anApiRequest(), gone)).toMatchObject({ code: 500 })
    expect(log.lines).toEqual([])
  })
})
