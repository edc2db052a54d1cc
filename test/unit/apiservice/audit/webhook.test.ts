import { afterEach, describe, expect, it } from 'vitest'
import { AuditWebhook, type WebhookOptions } from '../../../../apiservice/audit/webhook.ts'
import { never as forEver } from '../../../../src/kernel/abort.ts'
import { type LogLine, memoryLogger } from '../../../../src/kernel/log.ts'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'
import { eventually } from '../../../support/eventually.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

type Answer = number | Error | Promise<number>

/** A webhook whose server answers as it is told, 200 when it is told nothing. */
function webhook(options: Partial<WebhookOptions> = {}) {
  const clock = manualClock()
  const metrics = prometheus({ processMetrics: false })
  const logged: LogLine[] = []
  const answers: Answer[] = []
  const bodies: string[] = []
  const one = new AuditWebhook({
    mode: 'batch',
    maxBatchEvents: 3,
    maxWaitMs: 1_000,
    bufferEvents: 5,
    firstBackoffMs: 1_000,
    post: async body => {
      bodies.push(body)
      const answer = answers.shift() ?? 200
      if (answer instanceof Error) throw answer
      return answer
    },
    clock,
    log: memoryLogger(logged),
    metrics,
    ...options,
  })
  const close = async (): Promise<void> => {
    const closing = one.close()
    await clock.advance(10_000)
    await closing
  }
  cleanups.push(close)
  const sent = (): readonly (readonly number[])[] =>
    bodies.map(body => JSON.parse(body).items.map((item: { n: number }) => item.n))
  const counts = async (): Promise<readonly string[]> =>
    (await metrics.text()).split('\n').filter(line => /^(apiserver|isthmus)_audit\S* [1-9]/.test(line))
  const write = (...numbers: readonly number[]): void => {
    for (const n of numbers) void one.write(`{"n":${n}}\n`, forEver)
  }
  return {
    one,
    clock,
    answers,
    bodies,
    sent,
    counts,
    write,
    close,
    logged,
    messages: () => logged.map(l => l.message),
  }
}

describe('an audit webhook in batches', () => {
  it('sends as many as fit at once, and the rest when the first of them has waited', async () => {
    const { clock, bodies, sent, write, counts } = webhook()
    write(1, 2, 3, 4)
    await settled()
    expect(sent()).toEqual([[1, 2, 3]])
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1' })
    await clock.advance(999)
    expect(sent()).toHaveLength(1)
    await clock.advance(1)
    expect(sent()).toEqual([[1, 2, 3], [4]])
    expect(await counts()).toEqual(['isthmus_audit_webhook_events_total 4'])
  })

  it('drops what does not fit while a server is slow, and counts it', async () => {
    const { answers, sent, write, counts, clock, messages } = webhook()
    const slow = Promise.withResolvers<number>()
    answers.push(slow.promise)
    write(1, 2, 3)
    await settled()
    write(4, 5, 6, 7, 8, 9, 10)
    expect(await counts()).toEqual(['apiserver_audit_error_total{plugin="buffered"} 2'])
    expect(messages()).toEqual(['the audit webhook has not taken events'])
    slow.resolve(200)
    await clock.advance(1_000)
    expect(sent()).toEqual([
      [1, 2, 3],
      [4, 5, 6],
      [7, 8],
    ])
    expect(messages()).toContain('the audit webhook takes events again')
  })

  it('tries again later and later, in order, and gives up after five times', async () => {
    const { answers, sent, write, counts, clock } = webhook()
    answers.push(500, 429, new Error('connection refused'), 503, 502)
    write(1, 2, 3, 4)
    for (const [tries, atMost] of [
      [2, 1_200],
      [3, 1_800],
      [4, 2_700],
      [5, 4_050],
    ] as const) {
      await clock.advance(atMost)
      expect(sent().filter(([first]) => first === 1)).toHaveLength(tries)
    }
    await clock.advance(1_000)
    expect(sent().at(-1)).toEqual([4])
    expect(await counts()).toEqual([
      'isthmus_audit_webhook_events_total 1',
      'apiserver_audit_error_total{plugin="webhook"} 3',
    ])
  })

  it('does not try again what is refused', async () => {
    const { answers, sent, write, counts, clock } = webhook()
    answers.push(403)
    write(1, 2, 3)
    await clock.advance(60_000)
    expect(sent()).toEqual([[1, 2, 3]])
    expect(await counts()).toEqual(['apiserver_audit_error_total{plugin="webhook"} 3'])
  })

  it('sends what waits when the server stops, also what has to be tried again', async () => {
    const { answers, sent, write, close } = webhook()
    answers.push(500)
    write(1, 2, 3, 4)
    await settled()
    await close()
    expect(sent()).toEqual([[1, 2, 3], [1, 2, 3], [4]])
  })

  it('counts what a server that does not answer has not taken when it stops, and says so once', async () => {
    const never = new Promise<number>(() => undefined)
    const { answers, sent, write, close, counts, messages } = webhook()
    answers.push(never)
    write(1, 2, 3, 4)
    await settled()
    await close()
    expect(sent()).toEqual([[1, 2, 3]])
    expect(await counts()).toEqual(['apiserver_audit_error_total{plugin="webhook"} 4'])
    write(5)
    expect(await counts()).toEqual(['apiserver_audit_error_total{plugin="webhook"} 5'])
    expect(messages()).toEqual(['the server stops before the audit webhook has taken all events'])
  })

  it('says what a stop has cost also where it has failed before', async () => {
    const { answers, write, close, logged, clock } = webhook()
    answers.push(400, 503, 503)
    write(1, 2, 3)
    await clock.advance(1_000)
    write(4, 5, 6)
    await settled()
    await close()
    expect(logged.map(({ message, fields }) => [message, fields.count])).toEqual([
      ['the audit webhook has not taken events', 3],
      ['the server stops before the audit webhook has taken all events', 3],
    ])
  })
})

describe('an audit webhook that is waited for', () => {
  it('has each event before its request goes on, or has given it up', async () => {
    const { one, answers, sent, counts, clock } = webhook({ mode: 'blocking' })
    await one.write('{"n":1}', forEver)
    expect(sent()).toEqual([[1]])
    answers.push(500)
    let isOver: boolean = false
    const waited = one.write('{"n":2}', forEver)?.then(() => {
      isOver = true
    })
    await settled()
    expect(isOver).toBe(false)
    await clock.advance(1_200)
    await waited
    answers.push(400)
    await one.write('{"n":3}', forEver)
    await eventually(async () =>
      expect(await counts()).toEqual([
        'isthmus_audit_webhook_events_total 2',
        'apiserver_audit_error_total{plugin="webhook"} 1',
      ]),
    )
  })

  it('is waited for no longer than its request may take, and 20 s, and still has the event', async () => {
    const { one, answers, sent, counts, clock } = webhook({ mode: 'blocking' })
    const [slow, gone] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
    answers.push(slow.promise, gone.promise)
    let isOver: boolean = false
    const waited = one.write('{"n":1}', forEver)?.then(() => {
      isOver = true
    })
    const client = new AbortController()
    const left = one.write('{"n":2}', client.signal)
    client.abort(new Error('gone'))
    await left
    await clock.advance(19_999)
    expect(isOver).toBe(false)
    await clock.advance(1)
    await waited
    slow.resolve(200)
    gone.resolve(200)
    await eventually(async () => expect(await counts()).toEqual(['isthmus_audit_webhook_events_total 2']))
    expect(sent()).toEqual([[1], [2]])
  })

  it('has so many events under way and no more, and none that is over', async () => {
    const { answers, sent, write, counts, clock } = webhook({ mode: 'blocking' })
    const slow = Promise.withResolvers<number>()
    answers.push(...Array.from({ length: 5 }, () => slow.promise))
    write(1, 2, 3, 4, 5, 6, 7)
    expect(await counts()).toEqual(['apiserver_audit_error_total{plugin="buffered"} 2'])
    slow.resolve(200)
    await clock.advance(0)
    write(8)
    await settled()
    expect(sent()).toEqual([[1], [2], [3], [4], [5], [8]])
  })

  it('has so many bytes under way and no more', async () => {
    const { one, answers, counts } = webhook({ mode: 'blocking' })
    answers.push(new Promise(() => undefined))
    void one.write(`"${'x'.repeat(64 * 1024 * 1024)}"`, forEver)
    expect(one.write('2', forEver)).toBeUndefined()
    expect(await counts()).toEqual(['apiserver_audit_error_total{plugin="buffered"} 1'])
  })

  it('has what nobody waits for any more, also when the server stops', async () => {
    const { answers, sent, write, close, counts } = webhook({ mode: 'blocking' })
    answers.push(503)
    write(1)
    await settled()
    await close()
    expect(sent()).toEqual([[1], [1]])
    expect(await counts()).toEqual(['isthmus_audit_webhook_events_total 1'])
  })
})
