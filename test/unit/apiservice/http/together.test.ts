// What arrives in one turn of the event loop is worked on together, at its end.
import { EventEmitter } from 'node:events'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import type { Responder } from '../../../../apiservice/contract.ts'
import { readBody } from '../../../../apiservice/http/body.ts'
import { Exchanges } from '../../../../apiservice/http/exchange.ts'
import type { RawRequest } from '../../../../apiservice/http/request.ts'
import { RequestMetrics } from '../../../../apiservice/http/request-metrics.ts'
import type { RawResponse } from '../../../../apiservice/http/respond.ts'
import type { Clock } from '../../../../src/kernel/clock.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { turn } from '../../../../src/kernel/turn.ts'
import { manualClock } from '../../../support/manual-clock.ts'

type Answers = { readonly responder?: Responder; readonly clock?: Clock }

function given({ responder, clock = manualClock() }: Answers = {}) {
  const seen: string[] = []
  const exchanges = new Exchanges({
    responder:
      responder ??
      (({ path }) => {
        seen.push(`begun ${path}`)
        return { type: 'bytes', code: 200, headers: {}, body: path }
      }),
    clock,
    log: memoryLogger(),
    metrics: new RequestMetrics(noMetrics, new Set()),
  })
  /** Of a client that sends nothing else; answers its response. */
  const arrive = (path: string): EventEmitter => {
    const raw = {
      method: 'GET',
      httpVersion: '1.1',
      headers: { host: 'x' },
      rawHeaders: [],
      socket: new Socket(),
    }
    const response = Object.assign(new EventEmitter(), {
      writeHead: () => undefined,
      write: (_bytes: Buffer, sent: () => void) => setImmediate(sent),
      end: (body = 'all') => seen.push(`answered ${body}`),
      destroy: () => undefined,
      headersSent: false,
      writableEnded: false,
    })
    // What an exchange asks of Node's classes.
    exchanges.handle(raw as unknown as RawRequest, response as unknown as RawResponse, path)
    return response
  }
  return { seen, arrive }
}

it('requests are begun at the end of the turn one after the other, and then answered', async () => {
  const { seen, arrive } = given()
  await turn()
  arrive('/a')
  arrive('/b')
  await Promise.resolve()
  expect(seen).toEqual([])
  await turn()
  expect(seen).toEqual(['begun /a', 'begun /b', 'answered /a', 'answered /b'])
})

it('long bodies share what a turn has time for, and all come to their end', async () => {
  let nowMs = 0
  const inTurns: string[][] = []
  function* slicesOf(path: string): Generator<Buffer> {
    for (const part of [1, 2, 3]) {
      inTurns.at(-1)?.push(`${path}${part}`)
      nowMs += 6
      yield Buffer.from(path)
    }
  }
  const { seen, arrive } = given({
    responder: ({ path }) => ({ type: 'slices', code: 200, headers: {}, slices: slicesOf(path) }),
    clock: { now: () => nowMs, after: () => () => undefined },
  })
  await turn()
  for (const path of ['/a', '/b', '/c', '/d']) arrive(path)
  while (seen.length < 4) {
    inTurns.push([])
    await turn()
  }
  expect(seen).toEqual(['answered all', 'answered all', 'answered all', 'answered all'])
  expect(inTurns.flat()).toHaveLength(12)
  expect(Math.max(...inTurns.map(parts => parts.length))).toBe(2)
  expect(inTurns[0]).toEqual(['/a1', '/b1'])
})

it('a request whose client is gone by then is not begun', async () => {
  const { seen, arrive } = given()
  await turn()
  arrive('/a').emit('close')
  arrive('/b')
  await turn()
  expect(seen).toEqual(['begun /b', 'answered /b'])
})

it('bodies are given out at the end of the turn in which they end', async () => {
  const seen: string[] = []
  const bodies = ['a', 'b'].map(text => {
    const stream = new Readable({ read: () => undefined })
    // Like a request whose length nobody has said.
    const raw = Object.assign(stream, { headers: {} }) as unknown as RawRequest
    raw.on('end', () => seen.push(`${text} ended`))
    const body = readBody(raw).then(bytes => seen.push(`${bytes} read`))
    return { stream, body, text }
  })
  await turn()
  for (const { stream, text } of bodies) {
    stream.push(text)
    stream.push(null)
    // Each is read as Node reads connections: what ticks and promises have to do comes before the next.
    await new Promise<void>(resolve => process.nextTick(resolve))
    await Promise.resolve()
  }
  await Promise.all(bodies.map(({ body }) => body))
  expect(seen).toEqual(['a ended', 'b ended', 'a read', 'b read'])
})
