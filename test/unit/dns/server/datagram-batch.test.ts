// Real sockets: what comes in between two turns of the event loop is one batch.
import { createSocket, type Socket } from 'node:dgram'
import { afterEach, describe, expect, it } from 'vitest'
import { bindUdpKnown } from '../../../../dns/server/bind.ts'
import { capacity, DatagramBatch } from '../../../../dns/server/datagram-batch.ts'
import { type Libc, loadLibc } from '../../../../dns/server/libc.ts'
import { eventually } from '../../../support/eventually.ts'

const libc = loadLibc()
const opened: Socket[] = []

afterEach(() => {
  for (const socket of opened.splice(0)) socket.close()
})

type Pair = {
  readonly batch: DatagramBatch
  readonly client: Socket
  readonly replies: string[]
  send(...texts: readonly string[]): Promise<void>
}

/** A client, and a server's socket from which only the batch reads. */
async function pairOn(host: string, with_: Partial<Libc> = {}, from = host): Promise<Pair> {
  const real = { ...(libc as Libc), ...with_ }
  const { socket, fd = -1 } = await bindUdpKnown({ host, port: 0, shared: false }, {}, real)
  const { port } = socket.address()
  const client = createSocket(from.includes(':') ? 'udp6' : 'udp4')
  opened.push(client, socket)
  const replies: string[] = []
  client.on('message', reply => replies.push(reply.toString()))
  await new Promise<void>(resolve => client.bind(0, from, resolve))
  return {
    batch: new DatagramBatch(real, fd, 1232),
    client,
    replies,
    async send(...texts) {
      for (const text of texts) {
        await new Promise<void>(sent =>
          client.send(text, port, host === '::' ? '127.0.0.1' : host, () => sent()),
        )
      }
    },
  }
}

describe.skipIf(libc === undefined)('a batch of datagrams', () => {
  // The server's socket is not read by the event loop here: libuv reads it only once somebody listens for messages.
  it('takes at most so many at a time, in their order, and nothing twice', async () => {
    const { batch, send } = await pairOn('127.0.0.1')
    const texts = Array.from({ length: capacity + 3 }, (_, i) => `datagram ${i}`)
    await send(...texts)
    const taken = (): readonly string[] =>
      Array.from({ length: batch.receive() }, (_, at) => batch.message(at).toString())
    expect(taken()).toEqual(texts.slice(0, capacity))
    expect(taken()).toEqual(texts.slice(capacity))
    expect(taken()).toEqual([])
  })

  it.each([
    ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', '127.9.8.7', '127.9.8.7'],
    ['::1', '::1', '::1'],
    ['::', '127.0.0.1', '::ffff:127.0.0.1'],
  ])('on %s says who sent from %s', async (host, from, text) => {
    const { batch, client, send } = await pairOn(host, {}, from)
    await send('a', 'b')
    expect(batch.receive()).toBe(2)
    for (const at of [0, 1]) {
      expect(batch.address(at)).toBe(text)
      expect(batch.port(at)).toBe(client.address().port)
    }
  })

  it('answers whom it is told to, whatever their order and number', async () => {
    const { batch, replies, send } = await pairOn('::1')
    await send('a', 'b', 'c', 'd')
    expect(batch.receive()).toBe(4)
    for (const at of [3, 1]) batch.reply(at, Buffer.from(`re: ${batch.message(at)}, and more`), 5)
    batch.send(() => expect.unreachable())
    await send('e')
    expect(batch.receive()).toBe(1)
    batch.reply(0, Buffer.from('last'), 4)
    batch.send(() => expect.unreachable())
    await eventually(() => expect(replies).toEqual(['re: d', 're: b', 'last']))
  })

  it('takes the largest datagram there is, and sends the largest answer', async () => {
    const { batch, replies, send } = await pairOn('127.0.0.1')
    const largest = 'x'.repeat(65_507)
    await send(largest, 'small', largest)
    expect(batch.receive()).toBe(3)
    expect([0, 1, 2].map(at => batch.message(at).toString())).toEqual([largest, 'small', largest])
    batch.reply(1, Buffer.from('y'.repeat(1232)), 1232)
    batch.send(() => expect.unreachable())
    await eventually(() => expect(replies).toEqual(['y'.repeat(1232)]))
  })

  it.each([-1, 0, 1, 2])('hands on what the kernel leaves when it takes %i of 3', async took => {
    const { batch, send } = await pairOn('127.0.0.1', { sendmmsg: () => took })
    await send('a', 'b', 'c')
    expect(batch.receive()).toBe(3)
    for (const at of [0, 1, 2]) batch.reply(at, Buffer.from(`re: ${batch.message(at)}`), 5)
    const left: string[] = []
    batch.send((reply, at) => left.push(`${reply} to ${at}`))
    expect(left).toEqual(['re: a to 0', 're: b to 1', 're: c to 2'].slice(Math.max(0, took)))
  })

  it('leaves what cannot be bound to the ordinary way, which says why', async () => {
    const where = { host: '192.0.2.1', port: 0, shared: false }
    await expect(bindUdpKnown(where, {}, libc)).rejects.toThrow(
      'dns: cannot listen on UDP 192.0.2.1:0: this machine has no such address',
    )
  })
})
