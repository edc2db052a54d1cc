import { describe, expect, it } from 'vitest'
import { type HealthCheck, makeHealth } from '../../../../apiservice/http/health.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { anApiRequest } from '../../../support/api-request.ts'

const store: HealthCheck = { name: 'store', check: () => Promise.resolve() }
const broken: HealthCheck = { name: 'store', check: () => Promise.reject(new Error('disk full')) }

async function ask(target: string, checks: readonly HealthCheck[] = [store], log = memoryLogger()) {
  const [path = '', query] = target.split('?')
  const reply = await makeHealth(checks, log)(
    anApiRequest({ path, query: new URLSearchParams(query) }),
    never,
  )
  if (reply?.type !== 'raw') return undefined
  return { code: reply.code, headers: reply.headers, body: reply.body }
}

describe('a healthy server', () => {
  it('says ok as plain text', async () => {
    expect(await ask('/readyz')).toEqual({
      code: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
      body: 'ok',
    })
  })

  it.each([
    ['/readyz?verbose', '[+]ping ok\n[+]store ok\nreadyz check passed\n'],
    ['/livez?verbose=1', '[+]ping ok\nlivez check passed\n'],
    ['/readyz?verbose&exclude=store', '[+]ping ok\n[+]store excluded: ok\nreadyz check passed\n'],
    [
      '/readyz?verbose&exclude=none&exclude=other',
      '[+]ping ok\n[+]store ok\nwarn: some health checks cannot be excluded: no matches for "none", "other"\nreadyz check passed\n',
    ],
    ['/readyz/store', 'ok'],
    ['/livez/ping', 'ok'],
  ])('%s', async (target, body) => {
    expect(await ask(target)).toMatchObject({ code: 200, body })
  })
})

describe('a server that fails a check', () => {
  it('tells which, and withholds why', async () => {
    expect(await ask('/readyz', [broken])).toMatchObject({
      code: 500,
      body: '[+]ping ok\n[-]store failed: reason withheld\nreadyz check failed\n',
    })
  })

  it('is live, and is ready without that check', async () => {
    expect(await ask('/livez', [broken])).toMatchObject({ code: 200 })
    expect(await ask('/readyz?exclude=store', [broken])).toMatchObject({ code: 200, body: 'ok' })
  })

  it('tells why at the single check, which is not open to everybody', async () => {
    expect(await ask('/readyz/store', [broken])).toMatchObject({
      code: 500,
      body: 'internal server error: disk full\n',
    })
  })

  it('logs once when it begins to fail and once when it is well again', async () => {
    const log = memoryLogger()
    let works: boolean = false
    const check: HealthCheck = {
      name: 'store',
      check: () => {
        if (!works) throw new Error('disk full')
      },
    }
    const health = makeHealth([check], log)
    const probe = () => health(anApiRequest({ path: '/readyz' }), never)
    await probe()
    await probe()
    works = true
    await probe()
    await probe()
    expect(log.lines).toEqual([
      {
        level: 'warn',
        message: 'health check failed',
        fields: { endpoint: 'readyz', failures: 'store: disk full' },
      },
      { level: 'info', message: 'health restored', fields: { endpoint: 'readyz' } },
    ])
  })
})

it("an unknown check is 404, another method 405, another path somebody else's", async () => {
  await expect(ask('/readyz/none')).rejects.toMatchObject({ code: 404 })
  await expect(ask('/livez/store')).rejects.toMatchObject({ code: 404 })
  const health = makeHealth([], memoryLogger())
  expect(() => health(anApiRequest({ path: '/readyz', method: 'POST' }), never)).toThrow(
    'does not allow this method',
  )
  expect(health(anApiRequest({ path: '/readyzz' }), never)).toBeUndefined()
  expect(health(anApiRequest({ path: '/' }), never)).toBeUndefined()
})
