import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type TcpLimits, tcpLimits } from '../../../../dns/server/limits.ts'
import { serveTcp, type TcpServer } from '../../../../dns/server/tcp.ts'
import { framed, question, shown } from '../../../support/dns-message.ts'
import { exampleObjects } from '../../../support/dns-objects.ts'
import { type TcpClient, tcpClient } from '../../../support/dns-socket.ts'
import { askerOf, loadedZone } from '../../../support/dns-zone.ts'
import { eventually } from '../../../support/eventually.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const { chain, observer } = askerOf(loadedZone(exampleObjects()))
const web = question('web.prod.svc.clusterset.local', 'A')
const servers: TcpServer[] = []
const clients: TcpClient[] = []

async function serving(limits: Partial<TcpLimits> = {}) {
  const clock = manualClock()
  const options = { limits: { ...tcpLimits, ...limits }, clock, responder: chain, observer }
  const server = await serveTcp({ host: '127.0.0.1', port: 0, shared: false }, options)
  servers.push(server)
  const client = async (how: Parameters<typeof tcpClient>[1] = {}): Promise<TcpClient> => {
    const connected = await tcpClient(server.port, how)
    clients.push(connected)
    return connected
  }
  return { clock, server, client }
}

/** Lets time pass until the server has let go of all but `left` connections. */
async function connectionsLeft(server: TcpServer, left: number): Promise<void> {
  await eventually(() => expect(server.connections).toBe(left))
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy()
  await Promise.all(servers.splice(0).map(server => server.close()))
})

describe('frames', () => {
  it('are answered in whatever pieces they come', async () => {
    const { client } = await serving()
    const { socket, next } = await client()
    socket.setNoDelay(true)
    for (const octet of framed(web)) {
      socket.write(Buffer.from([octet]))
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(shown(await next()).answer).toHaveLength(1)
  })

  it('are answered in their order when many come at once', async () => {
    const { client } = await serving()
    const { socket, next } = await client()
    const ids = Array.from({ length: 500 }, (_, i) => i)
    const names = ['web.prod', 'nope.prod', 'big.prod', 'db.prod']
    socket.write(
      Buffer.concat(ids.map(id => framed(question(`${names[id % 4]}.svc.clusterset.local`, 'A', { id })))),
    )
    const replies: Buffer[] = []
    for (const _ of ids) replies.push(await next())
    expect(replies.map(reply => reply.readUInt16BE(0))).toEqual(ids)
    expect(new Set(replies.map(reply => reply.readUInt16BE(6)))).toEqual(new Set([1, 0, 1200, 3]))
  })

  it('that cannot be read get FORMERR and leave the connection open', async () => {
    const { client } = await serving()
    const { ask } = await client()
    expect((await ask(Buffer.from('123401000000000000000000', 'hex'))).toString('hex')).toBe(
      '123481010000000000000000',
    )
    expect(shown(await ask(web)).status).toBe('NOERROR')
  })

  it.each([
    ['a length of 0', Buffer.from([0, 0])],
    ['a length of 11', framed(Buffer.alloc(11))],
    ['a length that no query has', Buffer.from([0xff, 0xff, 0])],
    ['a response', framed(Buffer.concat([web.subarray(0, 2), Buffer.from([0x81]), web.subarray(3)]))],
  ])('with %s end the connection, after what was asked before is answered', async (_, bytes) => {
    const { client, server } = await serving()
    const { socket, next, closed } = await client()
    socket.write(Buffer.concat([framed(web), bytes]))
    expect(shown(await next()).status).toBe('NOERROR')
    await closed
    await connectionsLeft(server, 0)
  })
})

describe('time', () => {
  it('ends an idle connection after thirty seconds, also when the client ignores it', async () => {
    const { clock, client, server } = await serving()
    const { ask, closed } = await client({ allowHalfOpen: true })
    await ask(web)
    await clock.advance(29_000)
    expect(server.connections).toBe(1)
    await clock.advance(2_000)
    await closed
    await connectionsLeft(server, 0)
  })

  it('counts idleness from the last query', async () => {
    const { clock, client, server } = await serving()
    const { ask } = await client()
    for (let i = 0; i < 4; i++) {
      await clock.advance(20_000)
      await ask(web)
    }
    expect(server.connections).toBe(1)
  })

  it('ends a connection whose frame is not whole after five seconds, however it drips', async () => {
    const { clock, client, server } = await serving()
    const { socket, closed, next } = await client()
    const bytes = framed(Buffer.alloc(4000))
    let sent = 100
    const drip = async (): Promise<void> => {
      socket.write(bytes.subarray(sent, ++sent))
      await new Promise(resolve => setImmediate(resolve))
    }
    socket.setNoDelay(true)
    // The answer to what comes with it says that the beginning has arrived.
    socket.write(Buffer.concat([framed(web), bytes.subarray(0, sent)]))
    await next()
    for (let second = 0; second < 4; second++) {
      await clock.advance(1_000)
      await drip()
    }
    expect(server.connections).toBe(1)
    await clock.advance(2_000)
    await closed
    await connectionsLeft(server, 0)
  })

  it('does not run while nobody is connected', async () => {
    const { clock, client, server } = await serving()
    expect(clock.pending).toBe(0)
    const { socket, ask } = await client()
    await ask(web)
    expect(clock.pending).toBe(1)
    socket.end()
    await connectionsLeft(server, 0)
    await clock.advance(1_000)
    expect(clock.pending).toBe(0)
  })
})

describe('limits', () => {
  it('close the longest idle connection when there are too many', async () => {
    const { client, server } = await serving({ connections: 3 })
    const [first, second, third] = [await client(), await client(), await client()]
    await second.ask(web)
    await first.ask(web)
    await third.ask(web)
    const fourth = await client()
    await second.closed
    expect(shown(await fourth.ask(web)).status).toBe('NOERROR')
    expect(shown(await first.ask(web)).status).toBe('NOERROR')
    expect(server.connections).toBe(3)
  })

  it('refuse one more when all are at work', async () => {
    const { client, server } = await serving({ connections: 1 })
    const busy = await client()
    busy.socket.write(Buffer.concat([framed(web), Buffer.from([0])]))
    await busy.next()
    const refused = await client()
    await refused.closed
    expect(refused.replies).toEqual([])
    expect(server.connections).toBe(1)
    busy.socket.write(framed(web).subarray(1))
    expect(shown(await busy.next()).status).toBe('NOERROR')
  })

  it('let one address have a new connection for the one that it did not use for longest', async () => {
    const { client, server } = await serving({ connectionsPerAddress: 3 })
    const other = await client({ from: '127.0.0.2' })
    await other.ask(web)
    const [first, second, third] = [await client(), await client(), await client()]
    await second.ask(web)
    await first.ask(web)
    await third.ask(web)
    const fourth = await client()
    await second.closed
    for (const open of [fourth, first, third, other])
      expect(shown(await open.ask(web)).status).toBe('NOERROR')
    expect(server.connections).toBe(4)
  })

  it('never close for its own address what is in the middle of a query', async () => {
    const { client, server } = await serving({ connectionsPerAddress: 2 })
    const [busy, idle] = [await client(), await client()]
    busy.socket.write(Buffer.concat([framed(web), Buffer.from([0])]))
    await busy.next()
    await idle.ask(web)
    const third = await client()
    await idle.closed
    third.socket.write(Buffer.concat([framed(web), Buffer.from([0])]))
    await third.next()
    const refused = await client()
    await refused.closed
    expect(refused.replies).toEqual([])
    expect(server.connections).toBe(2)
    for (const open of [busy, third]) {
      open.socket.write(framed(web).subarray(1))
      expect(shown(await open.next()).status).toBe('NOERROR')
    }
  })

  it('let everybody ask while one client holds all that it may have', async () => {
    const { client, server } = await serving()
    await Promise.all(Array.from({ length: 300 }, () => client()))
    await connectionsLeft(server, tcpLimits.connectionsPerAddress)
    const replies = await Promise.all([
      client().then(own => own.ask(web)),
      client({ from: '127.0.0.2' }).then(other => other.ask(web)),
    ])
    expect(replies.map(reply => shown(reply).status)).toEqual(['NOERROR', 'NOERROR'])
    expect(server.connections).toBe(tcpLimits.connectionsPerAddress + 1)
  })

  it('stop reading from a client that does not read, and end it when it goes on so', async () => {
    const { clock, client, server } = await serving()
    const { socket, closed } = await client()
    socket.pause()
    const big = framed(question('big.prod.svc.clusterset.local', 'A'))
    const answered = observer.seen.length
    // 20,000 answers of 19 KB: 390 MB, were they made.
    const flood = Buffer.concat(Array.from({ length: 20_000 }, () => big))
    socket.write(flood)
    await eventually(() => expect(observer.seen.length - answered).toBeGreaterThan(50))
    const made = await eventually(async () => {
      const before = observer.seen.length
      await new Promise(resolve => setImmediate(resolve))
      expect(observer.seen.length).toBe(before)
      return before - answered
    })
    // One segment of 64 KB holds 1,300 queries; what the kernel buffers is a few hundred answers.
    expect(made).toBeLessThan(1_000)
    await clock.advance(11_000)
    socket.resume()
    await closed
    await connectionsLeft(server, 0)
  })

  it('go on when a slow client reads again', async () => {
    const { client } = await serving({ pendingOctets: 64 * 1024 })
    const { socket, next } = await client()
    socket.pause()
    const asks = 2_000
    const big = Array.from({ length: asks }, (_, id) =>
      framed(question('big.prod.svc.clusterset.local', 'A', { id })),
    )
    socket.write(Buffer.concat(big))
    await new Promise(resolve => setImmediate(resolve))
    socket.resume()
    for (let id = 0; id < asks; id++) expect((await next()).readUInt16BE(0)).toBe(id)
  })
})

describe('closing', () => {
  it('ends idle connections at once', async () => {
    const { client, server } = await serving()
    const { ask, closed } = await client({ allowHalfOpen: true })
    await ask(web)
    await server.close()
    await closed
  })

  it('does not wait longer than five seconds for who does not read', async () => {
    const { clock, client, server } = await serving()
    const { socket } = await client()
    socket.pause()
    const answered = observer.seen.length
    socket.write(
      Buffer.concat(
        Array.from({ length: 2_000 }, () => framed(question('big.prod.svc.clusterset.local', 'A'))),
      ),
    )
    await eventually(() => expect(observer.seen.length).toBeGreaterThan(answered + 50))
    const closing = server.close()
    await clock.advance(6_000)
    await closing
    expect(server.connections).toBe(0)
  })

  it('answers a client that has closed its side', async () => {
    const { client } = await serving()
    const { socket, next, closed } = await client()
    socket.end(framed(web))
    expect(shown(await next()).status).toBe('NOERROR')
    await closed
  })
})

describe('the port', () => {
  it('is told in one sentence to be in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const options = { limits: tcpLimits, clock: manualClock(), responder: chain, observer }
    await expect(serveTcp({ host: '127.0.0.1', port, shared: false }, options)).rejects.toThrow(
      `dns: cannot listen on TCP 127.0.0.1:${port}: the port is in use`,
    )
    await new Promise(resolve => taken.close(resolve))
  })
})
