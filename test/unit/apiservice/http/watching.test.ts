import { afterEach, describe, expect, it } from 'vitest'
import type { WatchSink } from '../../../../apiservice/contract.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { protocols } from '../../../support/api-client.ts'
import { bytes, event, frames, httpFronts } from '../../../support/http-front.ts'

const { start: aFront, close } = httpFronts()
afterEach(close)

describe.each(protocols)('over %s', protocol => {
  it('the headers of a watch come before its first event, and its end is clean', async () => {
    const opened = Promise.withResolvers<WatchSink>()
    const client = (await aFront(frames(sink => opened.resolve(sink)))).client(protocol)
    const answer = await client.open('/apis/g/v1/foos?watch=1')
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json' })
    expect(answer.headers).not.toHaveProperty('content-length')
    const sink = await opened.promise
    sink.events([event('a'), event('b')])
    expect([await answer.line(), await answer.line()]).toEqual(['a', 'b'])
    sink.events([event('c')])
    sink.end()
    expect([await answer.line(), await answer.line()]).toEqual(['c', undefined])
  })

  it('a watch is never compressed, and HEAD does not open one', async () => {
    let opened = 0
    const client = (
      await aFront(
        frames(sink => {
          opened++
          sink.events([event('x'.repeat(200_000))])
          sink.end()
        }),
      )
    ).client(protocol)
    const target = '/apis/g/v1/foos?watch=1'
    expect((await client.send(target, { method: 'HEAD' })).status).toBe(200)
    expect(opened).toBe(0)
    const answer = await client.send(target, { headers: { 'accept-encoding': 'gzip' } })
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(answer.text).toHaveLength(200_001)
  })

  it('a client that goes away ends its watch', async () => {
    const gone = Promise.withResolvers<void>()
    const client = (
      await aFront(frames((_, signal) => signal.addEventListener('abort', () => gone.resolve())))
    ).client(protocol)
    const answer = await client.open('/apis/g/v1/foos?watch=1')
    answer.cancel()
    await gone.promise
    expect(answer.status).toBe(200)
  })

  it('a watcher that does not read is cut off, and the others get every event', async () => {
    const sinks: WatchSink[] = []
    const cut = Promise.withResolvers<void>()
    const all = Promise.withResolvers<void>()
    const front = await aFront(
      frames((sink, signal) => {
        sinks.push(sink)
        signal.addEventListener('abort', () => cut.resolve())
        if (sinks.length === 2) all.resolve()
      }),
      { maxUnreadBytes: 4_000_000 },
    )
    const slow = await front.client(protocol).open('/apis/g/v1/foos?watch=1')
    slow.pause()
    const fast = await front.client(protocol).open('/apis/g/v1/foos?watch=1')
    await all.promise
    const text = 'x'.repeat(100_000)
    for (let i = 0; i < 200; i++) {
      for (const sink of sinks) sink.events([event(`${i} ${text}`)])
      expect(await fast.line()).toBe(`${i} ${text}`)
    }
    await cut.promise
    slow.cancel()
  })

  it('draining waits for requests, not for watches; watches end cleanly when told', async () => {
    const release = Promise.withResolvers<void>()
    const slow = Promise.withResolvers<void>()
    const front = await aFront(async (request, signal) => {
      if (request.info.verb === 'watch') return frames(() => undefined)(request, signal)
      slow.resolve()
      await release.promise
      return bytes('{}')
    })
    const watch = await front.client(protocol).open('/apis/g/v1/foos?watch=1')
    const answer = front.client(protocol).send('/apis/g/v1/foos')
    await slow.promise
    let isDrained = false
    const drained = front.exchanges.drained().then(() => {
      isDrained = true
    })
    front.exchanges.stopping()
    front.listener.stop()
    expect(isDrained).toBe(false)
    release.resolve()
    expect((await answer).status).toBe(200)
    await drained
    front.exchanges.endWatches()
    expect(await watch.line()).toBeUndefined()
    await front.exchanges.idle()
    await front.listener.close(never)
  })
})

it('HTTP/2 carries a thousand watches and more over one connection', async () => {
  const sinks: WatchSink[] = []
  const all = Promise.withResolvers<void>()
  const count = 1_200
  const front = await aFront(
    frames(sink => {
      sinks.push(sink)
      if (sinks.length === count) all.resolve()
    }),
  )
  const client = front.client('HTTP/2')
  const watches = await Promise.all(
    Array.from({ length: count }, () => client.open('/apis/g/v1/foos?watch=1')),
  )
  await all.promise
  for (const sink of sinks) sink.events([event('tick')])
  expect(new Set(await Promise.all(watches.map(watch => watch.line())))).toEqual(new Set(['tick']))
})
