import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import type { WatchEvent } from '../../../../apiservice/contract.ts'
import type { RawResponse } from '../../../../apiservice/http/respond.ts'
import { WatchStream } from '../../../../apiservice/http/watch-stream.ts'
import type { StoredObject } from '../../../../apiservice/store-contract.ts'
import { unavailable } from '../../../../src/kernel/errors.ts'
import { manualClock } from '../../../support/manual-clock.ts'

/** A connection that takes what it is told to take. */
class FakeResponse extends EventEmitter {
  readonly writes: string[] = []
  takes = true
  ended = false
  destroyed = false
  write(chunk: Buffer): boolean {
    this.writes.push(chunk.toString())
    return this.takes
  }
  end(): void {
    this.ended = true
  }
  destroy(): void {
    this.destroyed = true
  }
  drain(): void {
    this.takes = true
    this.emit('drain')
  }
}

const object = (name: string, bytes = 10): StoredObject => ({
  revision: 1,
  resource: 'foos.g',
  namespace: '',
  name,
  body: Buffer.alloc(bytes, 'x'),
})
const added = (name: string, bytes?: number): WatchEvent => ({ type: 'ADDED', object: object(name, bytes) })
const frame = (event: WatchEvent): string => `${event.type}:${'object' in event ? event.object.name : ''};`
const encode = (events: readonly WatchEvent[]): Buffer => Buffer.from(events.map(frame).join(''))

function aStream(options: { maxUnreadBytes?: number } = {}) {
  const response = new FakeResponse()
  const slow: string[] = []
  const clock = manualClock()
  const stream = new WatchStream({
    clock,
    // The stream uses exactly what the fake has.
    response: response as unknown as RawResponse,
    encode,
    onSlow: () => slow.push('slow'),
    ...options,
  })
  return { response, stream, slow, clock }
}

it('a batch is one write', () => {
  const { response, stream } = aStream()
  stream.events([added('a'), added('b')])
  stream.events([added('c')])
  expect(response.writes).toEqual(['ADDED:a;ADDED:b;', 'ADDED:c;'])
})

it('nothing is written, and nothing encoded, while the connection is full', () => {
  const { response, stream } = aStream()
  response.takes = false
  stream.events([added('a')])
  stream.events([added('b')])
  stream.events([added('c')])
  expect(response.writes).toEqual(['ADDED:a;'])
  response.drain()
  expect(response.writes).toEqual(['ADDED:a;', 'ADDED:b;ADDED:c;'])
})

it('a long first state is written in slices, each when the one before is through', () => {
  const response = new FakeResponse()
  const stream = new WatchStream({
    clock: manualClock(),
    // The stream uses exactly what the fake has.
    response: response as unknown as RawResponse,
    encode: events => Buffer.alloc(100_000 * events.length),
    onSlow: () => undefined,
  })
  response.takes = false
  stream.events(Array.from({ length: 7 }, (_, i) => added(`${i}`, 100_000)))
  expect(response.writes.map(w => w.length)).toEqual([300_000])
  response.emit('drain')
  expect(response.writes.map(w => w.length)).toEqual([300_000, 300_000])
  response.emit('drain')
  expect(response.writes.map(w => w.length)).toEqual([300_000, 300_000, 100_000])
})

it('the end comes after what still waits', () => {
  const { response, stream } = aStream()
  response.takes = false
  stream.events([added('a')])
  stream.events([added('b')])
  stream.end()
  expect(response.ended).toBe(false)
  response.drain()
  expect([response.writes.at(-1), response.ended]).toEqual(['ADDED:b;', true])
})

it('an ERROR is the last frame', () => {
  const { response, stream } = aStream()
  stream.events([{ type: 'ERROR', status: unavailable('gone').toStatus() }])
  stream.events([added('late')])
  expect([response.writes, response.ended]).toEqual([['ERROR:;'], true])
})

it('a watcher that leaves too much unread is cut off, and hears nothing more', () => {
  const { response, stream, slow } = aStream({ maxUnreadBytes: 10_000 })
  stream.events([])
  response.takes = false
  for (let i = 0; i < 5; i++) stream.events([added('x', 3_000)])
  expect([response.destroyed, slow]).toEqual([true, ['slow']])
  const before = response.writes.length
  response.drain()
  stream.events([added('y')])
  stream.end()
  expect(response.writes).toHaveLength(before)
})

it('the state that a watcher asked for does not count as unread, however long it is', () => {
  const { response, stream, slow } = aStream({ maxUnreadBytes: 10_000 })
  response.takes = false
  stream.events(Array.from({ length: 1_000 }, (_, i) => added(`${i}`, 1_000)))
  stream.events([added('live', 5_000)])
  expect([response.destroyed, slow]).toEqual([false, []])
})

const state = (count: number): readonly WatchEvent[] =>
  Array.from({ length: count }, (_, i) => added(`${i}`, 1_000))

it('who has not read that state within five minutes is cut off', async () => {
  const { response, stream, slow, clock } = aStream()
  response.takes = false
  stream.events(state(1_000))
  response.emit('drain')
  await clock.advance(299_000)
  expect(response.destroyed).toBe(false)
  await clock.advance(2_000)
  expect([response.destroyed, slow]).toEqual([true, ['slow']])
})

it('who has read it in time is not, however much of what came later still waits', async () => {
  const { response, stream, slow, clock } = aStream()
  response.takes = false
  stream.events(state(1_000))
  response.drain()
  response.takes = false
  stream.events([added('a')])
  stream.events([added('b')])
  await clock.advance(400_000)
  expect([response.destroyed, slow]).toEqual([false, []])
  response.drain()
  expect(response.writes.at(-1)).toBe('ADDED:b;')
})

it('a state that several are given is read by each from its beginning', () => {
  const shared = state(1_000)
  const [one, other] = [aStream(), aStream()]
  one.response.takes = false
  one.stream.events(shared)
  other.stream.events(shared)
  one.response.drain()
  const all = shared.map(frame).join('')
  expect([one, other].map(({ response }) => response.writes.join(''))).toEqual([all, all])
})

it('a reader that keeps up only just gets every event in order', () => {
  const { response, stream } = aStream()
  const names = Array.from({ length: 5_000 }, (_, i) => `${i}`)
  for (const name of names) {
    response.takes = false
    stream.events([added(name)])
    if (Number(name) % 3 === 0) response.emit('drain')
  }
  response.drain()
  expect(response.writes.join('')).toBe(names.map(name => `ADDED:${name};`).join(''))
})
