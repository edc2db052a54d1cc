import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Responder } from '../../../../apiservice/contract.ts'
import { shutDown } from '../../../../apiservice/http/shutdown.ts'
import { protocols } from '../../../support/api-client.ts'
import { event, frames, httpFronts } from '../../../support/http-front.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const { start, close } = httpFronts()
afterEach(close)

const target = '/apis/g/v1/foos?watch=1'
/** More than the buffers of two sockets hold. */
const manyMegabytes = [event('x'.repeat(12_000_000))]

/** Opens two watches with much to read, and reads none of it. */
async function stalledWatches(responder: Responder, protocol: (typeof protocols)[number]) {
  const clock = manualClock()
  const front = await start(responder, { clock })
  await Promise.all(
    Array.from({ length: 2 }, async () => {
      const watch = await front.client(protocol).open(target)
      watch.pause()
    }),
  )
  return { clock, front }
}

describe.each(protocols)('stopping over %s', protocol => {
  it('waits 1.25 s for watchers that do not read, and no longer', async () => {
    const gone: AbortSignal[] = []
    const { clock, front } = await stalledWatches(
      frames((sink, signal) => {
        gone.push(signal)
        sink.events(manyMegabytes)
      }),
      protocol,
    )
    const stopped = shutDown(front.exchanges, front.listener, clock)
    await clock.advance(1_249)
    expect(gone.some(signal => signal.aborted)).toBe(false)
    await clock.advance(1)
    await stopped
    expect(gone).toHaveLength(2)
  })

  it('waits 10 s for a request, and no longer', async () => {
    const clock = manualClock()
    const asked = Promise.withResolvers<AbortSignal>()
    const front = await start(
      (_, signal) => {
        asked.resolve(signal)
        return new Promise(() => undefined)
      },
      { clock },
    )
    const refused = expect(front.client(protocol).send('/apis/g/v1/foos')).rejects.toThrow()
    const signal = await asked.promise
    const stopped = shutDown(front.exchanges, front.listener, clock)
    await clock.advance(9_999)
    expect(signal.aborted).toBe(false)
    await clock.advance(1_251)
    await Promise.all([stopped, refused])
  })
})

it('ends connections without TLS when it stops', async () => {
  const clock = manualClock()
  const front = await start(() => new Promise(() => undefined), { clock })
  const socket = connect({ port: front.listener.port, host: '127.0.0.1' })
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  const stopped = shutDown(front.exchanges, front.listener, clock)
  await clock.advance(500)
  await Promise.all([stopped, closed])
})
