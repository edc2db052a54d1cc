import { execFileSync, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Libc, loadLibc } from '../../../../dns/server/libc.ts'
import { Networks } from '../../../../dns/server/networks.ts'
import { serveUdp, type UdpClamp, type UdpServer } from '../../../../dns/server/udp.ts'
import { question, shown } from '../../../support/dns-message.ts'
import { exampleObjects } from '../../../support/dns-objects.ts'
import { udpClient } from '../../../support/dns-socket.ts'
import { askerOf, loadedZone } from '../../../support/dns-zone.ts'

const { chain, observer } = askerOf(loadedZone(exampleObjects()))
const web = question('web.prod.svc.clusterset.local', 'A')
const opened: { close(): Promise<void> }[] = []

/** Datagrams one at a time, and several. */
const ways = [
  ['one at a time', undefined],
  ['several at a time', loadLibc()],
] as const
let libc: Libc | undefined

async function serving(
  endpoint: { host?: string; port?: number; shared?: boolean } = {},
  clamp: UdpClamp = () => 1232,
): Promise<UdpServer> {
  const where = { host: '127.0.0.1', port: 0, shared: false, ...endpoint }
  const server = await serveUdp(where, { responder: chain, observer, clamp, libc })
  opened.push(server)
  return server
}

async function clientOf(port: number, host?: string): ReturnType<typeof udpClient> {
  const client = await udpClient(port, host)
  opened.push(client)
  return client
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map(socket => socket.close()))
})

describe.each(ways)('the UDP server, %s', (way, ofWay) => {
  beforeEach(context => {
    if (way === 'several at a time' && ofWay === undefined)
      context.skip('needs Linux and a Node with node:ffi')
    libc = ofWay
  })

  it('answers each datagram to whom it came from', async () => {
    const server = await serving()
    const clients = await Promise.all([clientOf(server.port), clientOf(server.port)])
    const replies = await Promise.all(
      clients.flatMap((client, c) =>
        Array.from({ length: 50 }, (_, i) => {
          client.send(question('web.prod.svc.clusterset.local', 'A', { id: 1000 * c + i }))
          return client.next()
        }),
      ),
    )
    const ids = replies.map(reply => reply.readUInt16BE(0))
    expect(ids.slice(0, 50).every(id => id < 1000)).toBe(true)
    expect(ids.slice(50).every(id => id >= 1000)).toBe(true)
    expect(new Set(ids).size).toBe(100)
    expect(shown(replies[0] ?? Buffer.alloc(0)).answer).toEqual([
      'web.prod.svc.clusterset.local. 5 A 10.42.0.10',
    ])
  })

  it('sends less to who is outside of the near networks, whatever they say', async () => {
    const near = new Networks(['127.0.0.0/24', 'fd00::/8'])
    const { port } = await serving({ host: '0.0.0.0' }, address => (near.includes(address) ? 1232 : 512))
    const large = question('big.prod.svc.clusterset.local', 'A', { edns: { size: 4096 } })
    const lengths: number[] = []
    for (const from of ['127.0.0.1', '127.0.1.1', '127.0.0.200', '127.9.0.1']) {
      const socket = createSocket('udp4')
      opened.push({ close: () => new Promise(resolve => socket.close(() => resolve())) })
      await new Promise<void>(resolve => socket.bind(0, from, () => resolve()))
      const reply = new Promise<Buffer>(resolve => socket.once('message', resolve))
      socket.send(large, port, '127.0.0.1')
      lengths.push((await reply).length)
    }
    expect(lengths.map(length => (length > 512 ? 'large' : 'small'))).toEqual([
      'large',
      'small',
      'large',
      'small',
    ])
    for (const [at, length] of lengths.entries())
      expect(length).toBeLessThanOrEqual(at % 2 === 0 ? 1232 : 512)
  })

  it('listens on IPv6 too', async () => {
    const server = await serving({ host: '::1' })
    const client = await clientOf(server.port, '::1')
    expect(shown(await client.ask(web)).status).toBe('NOERROR')
  })

  it('says nothing to what is no query, and goes on', async () => {
    const server = await serving()
    const client = await clientOf(server.port)
    const drops = observer.drops
    const response = Buffer.from(web)
    response[2] = 0x81
    for (const silent of [Buffer.alloc(0), Buffer.alloc(1), Buffer.alloc(11), response]) client.send(silent)
    expect(shown(await client.ask(web)).status).toBe('NOERROR')
    expect(client.replies).toEqual([])
    expect(observer.drops).toBe(drops + 4)
  })

  it('does not answer what may come from itself', async () => {
    const server = await serving()
    const drops = observer.drops
    // The port is the server's own, and 127.0.0.2 is this machine too.
    const other = createSocket('udp4')
    await new Promise<void>(resolve =>
      other.bind({ port: server.port, address: '127.0.0.2' }, () => resolve()),
    )
    await new Promise<void>(resolve => other.send(web, server.port, '127.0.0.1', () => resolve()))
    const client = await clientOf(server.port)
    expect(shown(await client.ask(web)).status).toBe('NOERROR')
    expect(observer.drops).toBe(drops + 1)
    other.close()
  })

  it('steps over datagrams of 65 KB that are made of pointers', async () => {
    const server = await serving()
    const client = await clientOf(server.port)
    // Each name a pointer to the next: whoever follows them is busy for seconds.
    const hops = Buffer.alloc(65_400)
    for (let at = 0; at < hops.length; at += 2) hops.writeUInt16BE(0xc000 | ((12 + at + 2) & 0x3fff), at)
    const counts = [
      [0, 0xffff],
      [0xffff, 0],
      [1, 3],
    ] as const
    for (const [questions, additionals] of counts) {
      const head = Buffer.from('123401000000000000000000', 'hex')
      head.writeUInt16BE(questions, 4)
      head.writeUInt16BE(additionals, 10)
      const reply = await client.ask(Buffer.concat([head, hops]))
      expect(reply.toString('hex')).toBe('123481010000000000000000')
    }
    expect(shown(await client.ask(web)).status).toBe('NOERROR')
  })

  it('tells in one sentence that the port is in use, or the address is not here', async () => {
    const server = await serving()
    await expect(serving({ port: server.port })).rejects.toThrow(
      `dns: cannot listen on UDP 127.0.0.1:${server.port}: the port is in use`,
    )
    await expect(serving({ host: '192.0.2.1' })).rejects.toThrow(
      'dns: cannot listen on UDP 192.0.2.1:0: this machine has no such address',
    )
  })

  it.each([false, true])(
    'leaves its port to nobody, even if they would share it (workers: %s)',
    async shared => {
      const server = await serving({ shared })
      const other = createSocket({ type: 'udp4', reuseAddr: true })
      const bound = new Promise<void>((resolve, reject) => {
        other.once('error', reject)
        other.bind(server.port, '127.0.0.1', resolve)
      })
      await expect(bound.finally(() => other.close())).rejects.toThrow('EADDRINUSE')
    },
  )

  it('stays alive when a datagram comes from port 0', async context => {
    const python = spawnSync('python3', [
      '-c',
      'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 17)',
    ])
    if (python.status !== 0) context.skip('needs python3 and the right to open raw sockets')
    const server = await serving()
    const drops = observer.drops
    const script = `
import socket, struct
query = bytes.fromhex("${web.toString('hex')}")
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 17)
raw.sendto(struct.pack("!HHHH", 0, ${server.port}, 8 + len(query), 0) + query, ("127.0.0.1", 0))`
    execFileSync('python3', ['-c', script])
    const client = await clientOf(server.port)
    expect(shown(await client.ask(web)).status).toBe('NOERROR')
    expect(observer.drops).toBe(drops + 1)
  })
})
